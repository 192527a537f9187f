// The bytes that all relays together may forward in a second. Those that want more wait in line, so that each gets its
// turn.
#pragma once

#include <deque>

#include "farm/relay/token_bucket.h"
#include "rpc/server/event_loop.h"

namespace ferry::farm {

class Bandwidth {
 public:
  // A turn begins only with this many bytes available, since many short transfers cost more than a few long ones.
  static constexpr std::uint64_t kLeast = 4096;

  Bandwidth(server::EventLoop& loop, std::uint64_t per_second);
  Bandwidth(const Bandwidth&) = delete;
  Bandwidth& operator=(const Bandwidth&) = delete;

  // Calls back, now or later, when it is this one's turn: then some bytes are available.
  void wait_for_turn(server::Callback turn);
  // For one whose turn it is.
  std::uint64_t available() { return bucket_.available(std::chrono::steady_clock::now()); }
  void take(std::uint64_t bytes) { bucket_.take(bytes); }
  // Forgets all that wait.
  void stop();

 private:
  void serve();

  TokenBucket bucket_;
  std::deque<server::Callback> waiting_;
  server::Timer timer_;
};

// The capacity of a bucket for this rate: what may go out at once.
std::uint64_t burst_of(std::uint64_t per_second);

}  // namespace ferry::farm
