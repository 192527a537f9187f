// When the lease machine must look again. There is one timer of each kind for each id.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "farm/core/schedule/clock.h"

namespace ferry::farm {

// The comment says what the id names.
enum class TimerKind : std::uint8_t {
  board_silence,    // a board's connection
  client_silence,   // a client's connection
  probe,            // a contender's connection
  acknowledgement,  // a lease
  extension,        // a lease
  lease_warning,    // a lease
  lease_end,        // a lease
  wait_end,         // a request
  attachment,       // a request
  queue_notice,     // there is one timer
  priority_step,    // there is one timer
};

struct Timer {
  Time at;
  TimerKind kind = TimerKind::queue_notice;
  std::uint64_t id = 0;

  bool operator<(const Timer& other) const {
    return std::tuple(at, kind, id) < std::tuple(other.at, other.kind, other.id);
  }
};

class Timers {
 public:
  // Replaces the timer of this kind and id.
  void set(Time at, TimerKind kind, std::uint64_t id = 0) {
    cancel(kind, id);
    timers_.insert({at, kind, id});
    times_[{kind, id}] = at;
  }
  void cancel(TimerKind kind, std::uint64_t id) {
    const auto found = times_.find({kind, id});
    if (found == times_.end()) return;
    timers_.erase({found->second, kind, id});
    times_.erase(found);
  }
  std::optional<Time> next() const {
    if (timers_.empty()) return std::nullopt;
    return timers_.begin()->at;
  }
  // Removes and returns the next timer that is due.
  std::optional<Timer> take_due(Time now) {
    if (timers_.empty() || timers_.begin()->at > now) return std::nullopt;
    const Timer timer = *timers_.begin();
    cancel(timer.kind, timer.id);
    return timer;
  }

 private:
  std::set<Timer> timers_;
  std::map<std::pair<TimerKind, std::uint64_t>, Time> times_;
};

}  // namespace ferry::farm
