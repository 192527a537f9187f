// What a session says of itself, copied out of the page that it shares with the supervisor. The page is hostile: a
// kernel may have written anything there, and may go on doing so while it is read. Nothing in it decides what the
// supervisor does with others, and keys, times and limits are not in it at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device-runtime/handlers/activity.h"
#include "rpc/base/status.h"

namespace ferry::device {

struct SeenActivity {
  // Some field holds what no session puts there. The others then hold what they were made with.
  bool is_damaged = false;
  std::uint64_t request = 0;  // 0: none is worked on
  std::int64_t started_ns = 0;
  std::uint16_t tag = 0;
  bool in_kernel = false;
  bool sending = false;
  std::string function;                 // while in_kernel
  std::optional<std::uint64_t> sealed;  // records
};

// `since` is when the session began, by the clock of measure/clock.h: no request of it can be older.
SeenActivity look_at(const Activity& activity, std::int64_t since);

// Why a session ends in whose page look_at() found damage.
Status damaged_activity();

}  // namespace ferry::device
