// All the boards and clients of a farm that are not real, and the loop on which they live.
#pragma once

#include <memory>
#include <vector>

#include "bench/farm/swarm_peer.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::bench {

class Swarm {
 public:
  // Has room for so many boards and clients.
  Swarm(const TcpAddress& tracker, std::size_t most);
  Swarm(const Swarm&) = delete;
  Swarm& operator=(const Swarm&) = delete;
  ~Swarm();

  void add_board(const secure::Key& key, std::chrono::milliseconds start_after);
  // The habit must outlive the swarm.
  void add_client(const secure::Key& key, const SwarmClient::Habit& habit, std::chrono::milliseconds start_after);
  std::size_t boards_joined() const;
  std::size_t clients_welcome() const;

  // Runs the loop. Returns how long it took until `is_done`, or a negative number after the timeout.
  double run_until(const std::function<bool()>& is_done, std::chrono::milliseconds timeout);
  void run_for(std::chrono::milliseconds time) {
    run_until([] { return false; }, time);
  }

 private:
  server::EventLoop loop_;
  server::SecretMemory secrets_;
  SwarmPlace place_;
  server::Timer watch_;
  std::vector<std::unique_ptr<SwarmBoard>> boards_;
  std::vector<std::unique_ptr<SwarmClient>> clients_;
};

}  // namespace ferry::bench
