// The events of a stream: "change" when listings change, "tick" now and then for temperatures and loads, "end" when the
// listener is no longer logged in.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace ferry::farm::http {

class EventFeed {
 public:
  using Clock = std::chrono::steady_clock;

  // Returns the text that is due now, where `count` is the farm's count of changes; empty if there is none.
  std::string next(Clock::time_point now, std::uint64_t count);
  // When next() will have one, after it has returned none for this count.
  Clock::time_point due(std::uint64_t count) const {
    return sent_ + (count == seen_ ? Clock::duration(kTick) : kPause);
  }

  static constexpr std::string_view kEnd = "event: end\ndata: \n\n";
  static constexpr std::chrono::seconds kTick{10};
  // The pause between two events, however often something changes.
  static constexpr std::chrono::milliseconds kPause{200};

 private:
  bool is_first_ = true;
  std::uint64_t seen_ = 0;
  Clock::time_point sent_;
};

}  // namespace ferry::farm::http
