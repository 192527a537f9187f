#include "farm/web/site/event_feed.h"

#include <utility>

namespace ferry::farm::http {

std::string EventFeed::next(Clock::time_point now, std::uint64_t count) {
  const bool is_first = std::exchange(is_first_, false);
  if (!is_first && now < due(count)) return {};
  // The page may be older than the stream.
  const bool is_change = is_first || count != seen_;
  seen_ = count;
  sent_ = now;
  return std::string(is_first ? "retry: 3000\n\n" : "") + "event: " + (is_change ? "change" : "tick") +
         "\ndata: " + std::to_string(count) + "\n\n";
}

}  // namespace ferry::farm::http
