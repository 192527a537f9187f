// Compares operations on intervals with all pairs of their values.
#include "crosscompile/analysis/interval.h"

#include "tests/unit/crosscompile/analysis/evaluate.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ferry;
using namespace ferry::analysis;
using analysis_test::floored;

namespace {

using Operation = std::int64_t (*)(std::int64_t, std::int64_t);

void check_pairs(Interval (*of_intervals)(Interval, Interval), Operation of_values, bool is_exact) {
  constexpr std::int64_t kLeast = -4, kMost = 4;
  for (std::int64_t a = kLeast; a <= kMost; ++a) {
    for (std::int64_t b = a; b <= kMost; ++b) {
      for (std::int64_t c = kLeast; c <= kMost; ++c) {
        for (std::int64_t d = c; d <= kMost; ++d) {
          std::int64_t low = of_values(a, c), high = low;
          for (std::int64_t x = a; x <= b; ++x) {
            for (std::int64_t y = c; y <= d; ++y) {
              low = std::min(low, of_values(x, y));
              high = std::max(high, of_values(x, y));
            }
          }
          const Interval got = of_intervals({a, b}, {c, d});
          CHECK((got.lo <= low && high <= got.hi));
          if (is_exact) CHECK((got.lo == low && got.hi == high));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("the interval of an operation contains all its values, and bounds of sums and products are exact") {
  check_pairs([](Interval a, Interval b) { return a + b; }, [](std::int64_t x, std::int64_t y) { return x + y; }, true);
  check_pairs([](Interval a, Interval b) { return a * b; }, [](std::int64_t x, std::int64_t y) { return x * y; }, true);
  check_pairs(min_of, [](std::int64_t x, std::int64_t y) { return std::min(x, y); }, true);
  check_pairs(max_of, [](std::int64_t x, std::int64_t y) { return std::max(x, y); }, true);
  check_pairs(static_cast<Interval (*)(Interval, Interval)>(floor_div), floored, false);
  check_pairs(floor_mod, [](std::int64_t x, std::int64_t y) { return y == 0 ? 0 : x - y * floored(x, y); }, false);
}

TEST_CASE("unknown bounds stay unknown") {
  const Interval all;
  CHECK(!(all + Interval::point(5)).bounded_above());
  CHECK(!(Interval{0, kInfinity} * Interval::point(3)).bounded_above());
  CHECK((Interval{0, kInfinity} * Interval::point(3)).lo == 0);
  CHECK(intersection(all, {2, 3}).finite());
  CHECK(!hull(all, {2, 3}).bounded_below());
  CHECK(Interval::of(DType::i8).lo == -128);
  CHECK(Interval::of(DType::u8).hi == 255);
  CHECK(Interval::of(DType::i64).fits_64_bits());
  CHECK(!(Interval::of(DType::i64) + Interval::point(1)).fits_64_bits());
}
