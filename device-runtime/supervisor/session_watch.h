// Decides when a session has exceeded a time limit or lost its client. The supervisor observes this from outside,
// through the shared page, which it does not trust, and through the state of the connection. Times are those of
// device-runtime/measure/clock.h.
#pragma once

#include <optional>

#include "base/status.h"
#include "device-runtime/supervisor/seen_activity.h"
#include "rpc/messages.h"

namespace ferry::device {

inline constexpr std::int64_t kNanosecondsPerMs = 1'000'000;

inline std::uint64_t to_milliseconds(std::int64_t ns) { return static_cast<std::uint64_t>(ns / kNanosecondsPerMs); }

// Limits the client's request to what the server allows; 0 means no limit, or no request.
rpc::TimeLimits granted(const rpc::TimeLimits& wished, const rpc::TimeLimits& most);

class SessionWatch {
 public:
  SessionWatch(const rpc::TimeLimits& limits, std::int64_t now)
      : limits_(limits), begin_(now), looked_(now), active_(now) {}

  // Returns deadline_exceeded, with a message that names the limit, once one is exceeded.
  Status check(const SeenActivity& seen, int socket, std::int64_t now);
  // Returns the limit that the last check() found exceeded; nothing if there was none.
  const std::optional<rpc::LimitEvent>& exceeded() const { return exceeded_; }
  // Time after the last check() during which no limit can be exceeded.
  std::int64_t ns_until_next_limit() const { return until_next_limit_; }
  std::int64_t begin() const { return begin_; }

 private:
  Status too_long(const SeenActivity& seen, TimeLimit limit, std::uint64_t limit_ms, std::int64_t since,
                  std::int64_t now);
  // Records when a limit ends and returns whether it has ended.
  bool is_over(std::uint64_t limit_ms, std::int64_t since, std::int64_t now);

  rpc::TimeLimits limits_;
  std::int64_t begin_;
  std::int64_t looked_;             // time of the last check
  std::int64_t active_;             // time of the last activity
  std::int64_t request_seen_ = 0;   // start of the request seen last, as the page reports it
  std::int64_t request_start_ = 0;  // its start, bounded by the check that first saw it and the one before
  std::int64_t until_next_limit_ = 0;
  std::optional<rpc::LimitEvent> exceeded_;
};

}  // namespace ferry::device
