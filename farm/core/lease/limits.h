// The limits and delays of leases.
#pragma once

#include <cstddef>
#include <cstdint>

#include "farm/core/schedule/clock.h"

namespace ferry::farm {

inline constexpr std::uint32_t kMaxPriority = 100;
inline constexpr Duration kMaxLease = std::chrono::hours(8);
inline constexpr Duration kMaxWait = std::chrono::hours(24 * 7);
inline constexpr std::size_t kMaxSlots = 16;
// Requests that wait: of everybody, and of one holder, who must not keep the others out.
inline constexpr std::size_t kMaxWaiting = 10'000;
inline constexpr std::size_t kMaxWaitingOfHolder = kMaxWaiting / 4;

// All boards of a lease must have acknowledged it by then, or it is rolled back.
inline constexpr Duration kAcknowledgeTimeout = std::chrono::seconds(2);
// A board that leaves this many announcements in a row unanswered is suspect.
inline constexpr std::uint32_t kMaxUnanswered = 3;
// A client or a board from which nothing was heard for this long is gone.
inline constexpr Duration kSilence = std::chrono::seconds(11);
// For so long after a tracker's start, clients of an earlier one may attach again.
inline constexpr Duration kAttachTimeout = std::chrono::seconds(10);
// How long a connected board may take to prove that it lives, if another one claims to be the same board.
inline constexpr Duration kProbeTimeout = std::chrono::seconds(3);
// How often clients are told that their place in the queue has changed.
inline constexpr Duration kQueueNoticePeriod = std::chrono::seconds(1);

// How long before a lease's end its holder is warned.
constexpr Duration warning_time(Duration length) {
  constexpr Duration kMost = std::chrono::minutes(1);
  return length / 10 < kMost ? length / 10 : kMost;
}

// A lease ends on the board by this part earlier than the tracker counts, because their clocks may run at rates that
// differ by 0.1%.
constexpr Duration less_clock_error(Duration length) { return length - length / 1000 - Duration(1); }

// A board whose sensor shows this much more than its baseline is hot, until it shows no more than kCool above it.
inline constexpr std::int32_t kHotMillidegrees = 10'000;
inline constexpr std::int32_t kCoolMillidegrees = 2'000;

}  // namespace ferry::farm
