#include "host/bench/sweep.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace ferry;
using bench::parse_sweep;

TEST_CASE("a sweep doubles, adds or lists") {
  using Sizes = std::vector<std::int64_t>;
  CHECK(parse_sweep("N=2^3..2^6").sizes == Sizes{8, 16, 32, 64});
  CHECK(parse_sweep("N=2^3..2^6").name == "N");
  CHECK(parse_sweep("M=100..350").sizes == Sizes{100, 200});
  CHECK(parse_sweep("M=100..300+100").sizes == Sizes{100, 200, 300});
  CHECK(parse_sweep("M=1,7,64").sizes == Sizes{1, 7, 64});
  CHECK(parse_sweep("M=5").sizes == Sizes{5});
}

TEST_CASE("a sweep that is empty, falls, grows without end or has a size of 0 is refused as it was written") {
  for (const std::string bad :
       {"", "N", "N=", "=3", "N=0..5", "N=8..2", "N=2^99", "N=1^", "N=1..5x", "N=1..9999999+1"}) {
    CAPTURE(bad);
    const std::string expected = bad + ": expected NAME=2^8..2^24, NAME=100..500+100 or NAME=1,7,64";
    CHECK_THROWS_WITH_AS(parse_sweep(bad), expected.c_str(), UsageError);
  }
}
