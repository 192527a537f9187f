// Forwards bytes between clients and boards that cannot reach each other, on a thread of its own, so that it takes no
// time from the tracker. The bytes are encrypted from end to end: nothing here interprets them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/status.h"
#include "host/farm/relay/bandwidth.h"
#include "host/farm/relay/relayed_pair.h"
#include "rpc/server/event_loop.h"

namespace ferry::farm {

struct RelayLimits {
  std::size_t relays = 64;                                       // at a time
  std::uint64_t bytes_per_second = std::uint64_t{32} << 20;      // of one relay, in both directions together
  std::uint64_t all_bytes_per_second = std::uint64_t{64} << 20;  // of all relays
  std::chrono::milliseconds idle = std::chrono::hours(1);        // without a byte; a kernel may run for long
};

class Relay {
 public:
  // Starts the thread; fails with resource_exhausted. Each rate must be positive.
  static Result<std::unique_ptr<Relay>> start(const RelayLimits& limits);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay() { stop(); }

  // Forwards between these connections until both have closed their directions or one has failed. Closes both and fails
  // with busy if there are too many relays, and with unavailable after stop(). Any thread.
  Status add(Descriptor client, Descriptor board);
  // Closes all connections. Any thread but the relay's own, one at a time.
  void stop();

  // Any thread.
  std::uint64_t relayed_bytes() const { return forwarded_; }
  std::size_t active() const { return active_; }

 private:
  using Sockets = std::pair<Descriptor, Descriptor>;

  Relay(const RelayLimits& limits, Descriptor wake);
  void wake() const;
  void await_wake();
  void take_arrived();
  void begin(Sockets sockets);
  void drop_idle();

  const RelayLimits limits_;
  server::EventLoop loop_;
  server::WatchedDescriptor wake_;
  server::Timer idle_timer_{loop_};
  Bandwidth bandwidth_;
  std::list<std::shared_ptr<RelayedPair>> pairs_;
  std::atomic<std::uint64_t> forwarded_{0};
  std::atomic<std::size_t> active_{0};  // those in pairs_ and in arrived_

  std::mutex mutex_;
  std::vector<Sockets> arrived_;
  bool is_stopping_ = false;

  std::thread thread_;
};

}  // namespace ferry::farm
