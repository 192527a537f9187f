#include "farm/web/site/event_feed.h"

#include <thread>

namespace ferry::farm::http {

std::string EventFeed::next() {
  constexpr std::chrono::milliseconds kCheck{500};
  const Clock::time_point now = Clock::now();
  if (is_first_) {
    is_first_ = false;
    seen_ = farm_.change_count();
    checked_ = sent_ = now;
    // The page may be older than the stream.
    return "retry: 3000\n\nevent: change\ndata: " + std::to_string(seen_) + "\n\n";
  }
  if (now - checked_ >= kCheck) {
    checked_ = now;
    if (!stream_->is_allowed()) {
      is_over_ = true;
      return "event: end\ndata: \n\n";
    }
  }
  const std::uint64_t count = farm_.wait_for_change(seen_, kEventWait);
  if (count != seen_) {
    std::this_thread::sleep_until(sent_ + kPause);
    seen_ = farm_.change_count();
    sent_ = Clock::now();
    return "event: change\ndata: " + std::to_string(seen_) + "\n\n";
  }
  if (Clock::now() - sent_ < kTick) return {};
  sent_ = Clock::now();
  return "event: tick\ndata: " + std::to_string(count) + "\n\n";
}

}  // namespace ferry::farm::http
