// When a session has had its time, or lost its client, as the supervisor sees it from outside: by the shared page,
// which it does not trust, and by what the system knows of the connection. Times are those of measure/clock.h.
#pragma once

#include "device-runtime/supervisor/seen_activity.h"
#include "rpc/base/status.h"
#include "rpc/messages.h"

namespace ferry::device {

inline constexpr std::int64_t kNanosecondsPerMs = 1'000'000;

// What the client asked for under what the server allows; 0 is no limit, or no wish.
rpc::TimeLimits granted(const rpc::TimeLimits& wished, const rpc::TimeLimits& most);

// The other end has closed, or has given no sign of life for too long.
bool is_peer_gone(int socket);

class SessionWatch {
 public:
  SessionWatch(const rpc::TimeLimits& limits, std::int64_t now)
      : limits_(limits), begin_(now), looked_(now), active_(now) {}

  // deadline_exceeded, with a sentence that says which limit, once one is over.
  Status check(const SeenActivity& seen, int socket, std::int64_t now);
  // How long after the last check() nothing can be over yet.
  std::int64_t patience_ns() const { return patience_; }
  std::int64_t begin() const { return begin_; }

 private:
  // Notes that a limit ends at this time; whether it has.
  bool is_over(std::uint64_t limit_ms, std::int64_t since, std::int64_t now);

  rpc::TimeLimits limits_;
  std::int64_t begin_;
  std::int64_t looked_;             // the last check
  std::int64_t active_;             // when something last happened
  std::int64_t request_seen_ = 0;   // what the page says of when the request began that was seen last
  std::int64_t request_start_ = 0;  // when it did: between the check that saw it first and the one before
  std::int64_t patience_ = 0;
};

}  // namespace ferry::device
