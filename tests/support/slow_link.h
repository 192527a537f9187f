// A link with a delay and a limited rate, in front of a server on loopback. It is a proxy, because the kernels that
// tests run on cannot delay packets.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace ferry::test {

struct LinkSpeed {
  std::chrono::milliseconds round_trip{100};
  double bytes_per_second = 100e6 / 8;
};

class SlowLink {
 public:
  // The first `drops` connections are reset as soon as they have sent something.
  SlowLink(int server_port, LinkSpeed speed, int drops = 0);
  ~SlowLink();
  SlowLink(const SlowLink&) = delete;
  SlowLink& operator=(const SlowLink&) = delete;

  int port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // Breaks every connection on both sides.
  void cut();
  // Stops all traffic to clients, including acknowledgements, as when a machine on the path loses power.
  void fall_silent();
  // Returns the number of bytes received from clients.
  std::size_t carried() const { return carried_; }

 private:
  struct Connection;
  void accept_all();

  std::atomic<std::size_t> carried_{0};
  const int server_port_;
  const LinkSpeed speed_;
  int drops_;
  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;
  std::list<std::unique_ptr<Connection>> connections_;
  std::thread acceptor_;
};

}  // namespace ferry::test
