#include "farm/relay/token_bucket.h"

#include <doctest/doctest.h>

namespace ferry::farm {
namespace {

using std::chrono::milliseconds;

const TokenBucket::TimePoint kStart{std::chrono::hours(7)};

TEST_CASE("a bucket is full at first, and fills again at its rate up to its capacity") {
  TokenBucket bucket(1000, 300, kStart);
  CHECK(bucket.available(kStart) == 300);
  bucket.take(300);
  CHECK(bucket.available(kStart) == 0);
  CHECK(bucket.time_until(1, kStart) == milliseconds(1));
  CHECK(bucket.time_until(300, kStart) == milliseconds(300));
  CHECK(bucket.available(kStart + milliseconds(100)) == 100);
  CHECK(bucket.time_until(100, kStart + milliseconds(100)) == milliseconds(0));
  CHECK(bucket.time_until(101, kStart + milliseconds(100)) == milliseconds(1));
  CHECK(bucket.available(kStart + std::chrono::hours(1)) == 300);
}

TEST_CASE("fractions of a token are not lost") {
  TokenBucket bucket(3, 10, kStart);
  bucket.take(10);
  std::uint64_t taken = 0;
  for (int ms = 1; ms <= 20'000; ++ms) {
    const std::uint64_t available = bucket.available(kStart + milliseconds(ms));
    bucket.take(available);
    taken += available;
  }
  CHECK(taken >= 59);
  CHECK(taken <= 60);
}

TEST_CASE("a clock that stands still or goes back adds nothing") {
  TokenBucket bucket(1000, 100, kStart);
  bucket.take(100);
  CHECK(bucket.available(kStart) == 0);
  CHECK(bucket.available(kStart - milliseconds(50)) == 0);
  CHECK(bucket.available(kStart + milliseconds(10)) == 10);
}

}  // namespace
}  // namespace ferry::farm
