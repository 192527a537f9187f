// Rates, sessions and places, with a clock of the test.
#include <doctest/doctest.h>

#include "farm/web/site/places.h"
#include "farm/web/site/rate_limit.h"
#include "farm/web/site/web_sessions.h"

using namespace ferry::farm::http;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr TimePoint kStart{seconds(1'000'000)};

}  // namespace

TEST_CASE("an address runs out of tries without an effect on others, and gets new ones in time") {
  RateLimit limit({3, 0.1});
  for (int i = 0; i < 3; ++i) {
    CHECK(limit.has_try("a", kStart));
    limit.take("a", kStart);
  }
  CHECK_FALSE(limit.has_try("a", kStart));
  CHECK(limit.has_try("b", kStart));
  CHECK_FALSE(limit.has_try("a", kStart + seconds(9)));
  CHECK(limit.has_try("a", kStart + seconds(11)));
}

TEST_CASE("no number of other addresses takes the tries of an address") {
  RateLimit limit({2, 0.001});
  limit.take("a", kStart);
  for (std::size_t i = 0; i < RateLimit::kAddresses + 200; ++i) {
    const std::string other = std::to_string(i);
    limit.take(other, kStart);
    limit.take(other, kStart);
    REQUIRE(limit.has_try("a", kStart));
    REQUIRE(limit.has_try("another", kStart));
  }
}

TEST_CASE("an address without tries is remembered as long as others have some") {
  RateLimit limit({2, 0.001});
  limit.take("a", kStart);
  limit.take("a", kStart);
  for (std::size_t i = 0; i < RateLimit::kAddresses + 200; ++i) {
    limit.take(std::to_string(i), kStart);
    REQUIRE_FALSE(limit.has_try("a", kStart));
  }
}

TEST_CASE("addresses of one IPv6 network count as one") {
  CHECK(rate_key("2001:db8:1:2::1") == rate_key("2001:db8:1:2:ffff::9"));
  CHECK(rate_key("2001:db8:1:2::1") != rate_key("2001:db8:1:3::1"));
  CHECK(rate_key("192.0.2.1") != rate_key("192.0.2.2"));
}

TEST_CASE("sessions expire when they are not used, and at last in any case") {
  WebSessions sessions;
  const std::string idle = sessions.add("uwe", "t", kStart);
  CHECK(sessions.find(idle, kStart + kSessionIdle));
  // Looking without using does not prolong it.
  CHECK(sessions.find(idle, kStart + kSessionIdle * 2, false));
  CHECK_FALSE(sessions.find(idle, kStart + kSessionIdle * 2 + seconds(1)));
  const std::string used = sessions.add("uwe", "t", kStart);
  for (auto at = kStart; at <= kStart + kSessionLife; at += minutes(60)) CHECK(sessions.find(used, at));
  CHECK_FALSE(sessions.find(used, kStart + kSessionLife + seconds(1)));
  CHECK(sessions.count() == 0);
}

TEST_CASE("ids of sessions are long, differ, and are not guessed from others") {
  WebSessions sessions;
  const std::string one = sessions.add("uwe", "t", kStart), other = sessions.add("uwe", "t", kStart);
  CHECK(one.size() == 64);
  CHECK(one != other);
  const auto session = sessions.find(one, kStart);
  REQUIRE(session);
  CHECK(session->csrf != one);
  CHECK(session->csrf != sessions.find(other, kStart)->csrf);
  CHECK_FALSE(sessions.find("", kStart));
  CHECK_FALSE(sessions.find(one.substr(1), kStart));
}

TEST_CASE("the number of sessions is limited for each holder and for all, and the longest unused one makes room") {
  WebSessions sessions;
  const std::string first = sessions.add("other", "t", kStart);
  const std::string oldest = sessions.add("uwe", "t", kStart + seconds(1));
  for (std::size_t i = 1; i < kHolderSessions; ++i) sessions.add("uwe", "t", kStart + seconds(2));
  CHECK(sessions.find(oldest, kStart + seconds(2), false));
  sessions.add("uwe", "t", kStart + seconds(3));
  CHECK_FALSE(sessions.find(oldest, kStart + seconds(3)));
  CHECK(sessions.find(first, kStart + seconds(3), false));
  for (std::size_t i = sessions.count(); i < kSessions; ++i) sessions.add(std::to_string(i), "t", kStart + seconds(4));
  CHECK(sessions.count() == kSessions);
  sessions.add("one more", "t", kStart + seconds(5));
  CHECK(sessions.count() == kSessions);
  CHECK_FALSE(sessions.find(first, kStart + seconds(5)));
}

TEST_CASE("a place is free again when its last owner is gone, also after all places") {
  auto places = std::make_unique<Places>(2);
  auto one = places->take();
  auto other = places->take();
  CHECK(one != nullptr);
  CHECK(other != nullptr);
  CHECK(places->take() == nullptr);
  const auto copy = one;
  one.reset();
  CHECK(places->take() == nullptr);
  other.reset();
  CHECK(places->take() != nullptr);
  places.reset();
}

TEST_CASE("secrets are compared by all of their bytes") {
  CHECK(is_same_secret("", ""));
  CHECK(is_same_secret("abc", "abc"));
  CHECK_FALSE(is_same_secret("abc", "abd"));
  CHECK_FALSE(is_same_secret("abc", "xbc"));
  CHECK_FALSE(is_same_secret("abc", "abcd"));
}
