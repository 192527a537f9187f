// A request that has arrived and the connection for its response, as the library's stream, with a deadline for each
// write instead of single calls.
#pragma once

#include <httplib.h>

#include <chrono>
#include <string>

namespace ferry::farm::http {

class SocketStream : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;

  // The library reads `request`, and nothing from the socket, which is non-blocking. Each write has `write_limit`.
  SocketStream(int socket, std::string peer, std::string request, std::chrono::milliseconds write_limit)
      : socket_(socket), peer_(std::move(peer)), request_(std::move(request)), write_limit_(write_limit) {}

  bool is_readable() const override { return true; }
  bool is_writable() const override;  // false once the peer has closed the connection
  ssize_t read(char* bytes, std::size_t size) override;
  ssize_t write(const char* bytes, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  // The library uses the number only to refuse those that select() cannot handle, which does not concern us.
  socket_t socket() const override { return 0; }

 private:
  // Waits until more can be written; false after the deadline.
  bool wait_until(Clock::time_point deadline) const;

  int socket_;
  std::string peer_;
  std::string request_;
  std::size_t read_ = 0;
  std::chrono::milliseconds write_limit_;
};

}  // namespace ferry::farm::http
