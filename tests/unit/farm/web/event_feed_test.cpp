#include "farm/web/site/event_feed.h"

#include <doctest/doctest.h>

using namespace ferry::farm::http;
using std::chrono::milliseconds;

TEST_CASE("a stream begins with a change, and has one whenever the farm changes, but few") {
  EventFeed feed;
  const EventFeed::Clock::time_point begin{std::chrono::hours(1)};
  CHECK(feed.next(begin, 7) == "retry: 3000\n\nevent: change\ndata: 7\n\n");
  CHECK(feed.next(begin, 7) == "");
  CHECK(feed.next(begin + milliseconds(1000), 8) == "event: change\ndata: 8\n\n");
  int events = 0;
  std::uint64_t count = 8;
  for (int i = 1; i <= 1000; ++i) events += feed.next(begin + milliseconds(1000 + i), ++count).empty() ? 0 : 1;
  CHECK(events == 5);
  CHECK(feed.due(count + 1) == begin + milliseconds(2000) + EventFeed::kPause);
}

TEST_CASE("a farm that does not change ticks") {
  EventFeed feed;
  const EventFeed::Clock::time_point begin{std::chrono::hours(1)};
  feed.next(begin, 7);
  CHECK(feed.due(7) == begin + EventFeed::kTick);
  CHECK(feed.next(begin + EventFeed::kTick - milliseconds(1), 7) == "");
  CHECK(feed.next(begin + EventFeed::kTick, 7) == "event: tick\ndata: 7\n\n");
  CHECK(feed.due(7) == begin + EventFeed::kTick * 2);
}
