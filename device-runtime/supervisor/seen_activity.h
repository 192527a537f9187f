// A session's report about itself, copied from the page that it shares with the supervisor. The page is untrusted: a
// kernel may have written anything there and may still be writing while it is read. Nothing in it influences how the
// supervisor treats other sessions, and it contains no keys, times or limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "device-runtime/session/state/activity.h"

namespace ferry::device {

struct SeenActivity {
  // Some field has a value that no session stores. All other fields then have their defaults.
  bool is_damaged = false;
  std::uint64_t request = 0;  // 0: no request is in progress
  std::int64_t started_ns = 0;
  std::uint16_t tag = 0;
  bool in_kernel = false;
  bool sending = false;
  std::string function;                 // valid while in_kernel
  std::optional<std::uint64_t> sealed;  // number of sealed records
  std::optional<MeasuredTime> measured;
};

// `since` is the start of the session by the clock of device-runtime/measure/clock.h; no request of the session can be
// older.
SeenActivity look_at(const Activity& activity, std::int64_t since);

// The reason with which a session ends if look_at() found its page damaged.
Status damaged_activity();

}  // namespace ferry::device
