// Forwards bytes between clients and boards that cannot reach each other, on a thread of its own, so that it takes no
// time from the tracker. The bytes are encrypted from end to end: nothing here interprets them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "base/status.h"
#include "farm/relay/bandwidth.h"
#include "farm/relay/relayed_pair.h"
#include "rpc/server/event_loop.h"

namespace ferry::farm {

struct RelayLimits {
  std::size_t relays = 64;                                       // at a time
  std::uint64_t bytes_per_second = std::uint64_t{32} << 20;      // the limit of one relay, in both directions together
  std::uint64_t all_bytes_per_second = std::uint64_t{64} << 20;  // the limit of all relays
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
  Status add(std::uint64_t lease, Descriptor client, Descriptor board);
  // Closes all connections of a lease. Any thread.
  void end(std::uint64_t lease);
  // Closes all connections. Any thread but the relay's own, one at a time.
  void stop();

  // Any thread.
  std::uint64_t relayed_bytes() const { return forwarded_; }
  std::size_t active() const;
  // The leases that have relays, with how many. Any thread.
  std::map<std::uint64_t, std::size_t> leases() const;

 private:
  struct Arrived {
    std::uint64_t lease = 0;
    Descriptor client, board;
  };
  struct Forwarded {
    std::uint64_t lease = 0;
    std::shared_ptr<RelayedPair> pair;
  };

  Relay(const RelayLimits& limits, Descriptor wake);
  void wake() const;
  void await_wake();
  void take_arrived();
  void begin(Arrived arrived);
  void drop_idle();

  const RelayLimits limits_;
  server::EventLoop loop_;
  server::WatchedDescriptor wake_;
  server::Timer idle_timer_{loop_};
  Bandwidth bandwidth_;
  std::list<Forwarded> pairs_;
  std::atomic<std::uint64_t> forwarded_{0};

  mutable std::mutex mutex_;                     // guards all that follows
  std::map<std::uint64_t, std::size_t> active_;  // those in pairs_ and in arrived_, by lease
  std::vector<Arrived> arrived_;
  std::vector<std::uint64_t> over_;  // leases whose relays are to end
  bool is_stopping_ = false;

  std::thread thread_;
};

}  // namespace ferry::farm
