// The events of a stream: "change" when listings change, "tick" now and then for temperatures and loads, "end" when the
// listener is no longer logged in.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "farm/api/farm.h"
#include "farm/web/site/message.h"

namespace ferry::farm::http {

class EventFeed {
 public:
  EventFeed(Farm& farm, std::shared_ptr<EventStream> stream) : farm_(farm), stream_(std::move(stream)) {}

  // Returns the next text to send, or an empty one after at most kEventWait.
  std::string next();
  // Whether all has been sent.
  bool is_over() const { return is_over_; }

  static constexpr std::chrono::milliseconds kEventWait{400};
  static constexpr std::chrono::seconds kTick{10};
  // The pause between two events, however often something changes.
  static constexpr std::chrono::milliseconds kPause{200};

 private:
  using Clock = std::chrono::steady_clock;

  Farm& farm_;
  std::shared_ptr<EventStream> stream_;
  bool is_first_ = true;
  bool is_over_ = false;
  std::uint64_t seen_ = 0;
  Clock::time_point checked_;
  Clock::time_point sent_;
};

}  // namespace ferry::farm::http
