// Two connections whose bytes are forwarded from each to the other: a client's and a board's. Each direction holds a
// bounded number of bytes and reads no more before it has sent them, so that a slow reader slows its sender down.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/descriptor.h"
#include "farm/relay/bandwidth.h"
#include "rpc/server/event_loop.h"

namespace ferry::farm {

class RelayedPair : public std::enable_shared_from_this<RelayedPair> {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{64} << 10;  // for each direction

  // `shared` and `forwarded` must outlive the pair; `per_second` is the limit of both directions together.
  RelayedPair(server::EventLoop& loop, Descriptor first, Descriptor second, std::uint64_t per_second, Bandwidth& shared,
              std::atomic<std::uint64_t>& forwarded);
  RelayedPair(const RelayedPair&) = delete;
  RelayedPair& operator=(const RelayedPair&) = delete;

  // `ended` is called once: both ends have closed their directions, or one has failed, or end() was called.
  void start(std::function<void()> ended);
  // Closes both connections.
  void end();
  TokenBucket::TimePoint last_active() const { return last_active_; }

 private:
  struct Direction {
    server::WatchedDescriptor& from;
    server::WatchedDescriptor& to;
    server::Timer timer;
    std::vector<std::uint8_t> buffer;
    std::size_t begin = 0, end = 0;  // what is in the buffer
    bool is_closed = false;          // by `from`, and then by us for `to`
  };

  void await_bytes(Direction& direction);
  void await_turn(Direction& direction);
  void read(Direction& direction);
  void write(Direction& direction);
  void close(Direction& direction);
  bool is_over() const { return !ended_; }

  server::WatchedDescriptor first_, second_;
  std::array<Direction, 2> directions_;
  TokenBucket own_;
  Bandwidth& shared_;
  std::atomic<std::uint64_t>& forwarded_;
  TokenBucket::TimePoint last_active_;
  std::function<void()> ended_;  // null before the start and after the end
};

}  // namespace ferry::farm
