#include "device-runtime/supervisor/seen_activity.h"

#include <array>
#include <cstring>

#include "device-runtime/measure/clock.h"

namespace ferry::device {
namespace {

// The clocks of two processors may differ slightly.
constexpr std::int64_t kSlackNs = 1'000'000'000;

}  // namespace

SeenActivity look_at(const Activity& activity, std::int64_t since) {
  std::array<char, sizeof activity.function> function;
  SeenActivity seen;
  seen.request = activity.request.load();
  seen.started_ns = activity.started_ns.load();
  seen.tag = activity.tag.load();
  const std::uint8_t in_kernel = activity.in_kernel.load(), sending = activity.sending.load();
  std::memcpy(function.data(), activity.function, function.size());
  const bool ends = function.back() == 0;
  function.back() = 0;
  seen.sealed = activity.sealed.get();
  seen.measured = activity.measured.get();
  const bool marked = activity.begin_mark.load() == Activity::kMark && activity.end_mark.load() == Activity::kMark;
  // Read last, so that a request that starts during the reading does not appear to be in the future.
  const std::int64_t now = now_ns();
  const bool in_time =
      seen.started_ns == 0 || (seen.started_ns >= since - kSlackNs && seen.started_ns <= now + kSlackNs);
  // A GPU's own clock may run a little faster than this one.
  const bool can_be =
      !seen.measured || (seen.measured->total_ns >= 0 && seen.measured->total_ns / 2 <= now - since + kSlackNs &&
                         seen.measured->ended_ns >= 0 && seen.measured->ended_ns <= now + kSlackNs);
  if (!marked || !ends || !in_time || !can_be || in_kernel > 1 || sending > 1) {
    SeenActivity damaged;
    damaged.is_damaged = true;
    return damaged;
  }
  seen.in_kernel = in_kernel == 1;
  seen.sending = sending == 1;
  if (seen.in_kernel) seen.function = function.data();
  return seen;
}

Status damaged_activity() {
  return {ErrorCode::kernel_crashed,
          "a kernel has written outside of its memory, over what the server watches its session by"};
}

}  // namespace ferry::device
