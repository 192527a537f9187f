#include "crosscompile/passes/legalize/narrow_floats.h"

#include "tests/unit/crosscompile/passes/kernel.h"

#include "crosscompile/ir/interpreter.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

// Applies `what` to every element.
template <class Out, class In>
std::vector<Out> each(DType to, DType from, std::vector<In> values, const std::function<Expr(const Expr&)>& what) {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i");
  const BufferRef in = kernel.input("in", from, {n}), out = kernel.output("out", to, {n});
  kernel.function.body = loop(i, n, put(out, {i}, what(at(in, {i}))));
  std::vector<Out> result(values.size());
  auto size = static_cast<std::int64_t>(values.size());
  void* arguments[] = {values.data(), result.data(), &size};
  REQUIRE(interpret(kernel.function, arguments) == 0);
  return result;
}

std::vector<std::uint16_t> all_patterns() {
  std::vector<std::uint16_t> patterns(65536);
  for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<std::uint16_t>(i);
  return patterns;
}

struct Narrow {
  std::function<Expr(const Expr&)> widen, round;
  std::uint16_t infinity;  // larger magnitudes are NaN
};
const Narrow kNarrows[] = {{f16_bits_to_f32, f32_to_f16_bits, 0x7c00}, {bf16_bits_to_f32, f32_to_bf16_bits, 0x7f80}};

bool is_nan(std::uint16_t bits, const Narrow& narrow) { return (bits & 0x7fff) > narrow.infinity; }

}  // namespace

TEST_CASE("every pattern of 16 bits is kept when it is widened and rounded again; NaN stays NaN and becomes quiet") {
  for (const Narrow& narrow : kNarrows) {
    const std::vector<std::uint16_t> patterns = all_patterns();
    const auto wide = each<float>(DType::f32, DType::u16, patterns, narrow.widen);
    const auto again = each<std::uint16_t>(DType::u16, DType::f32, wide, narrow.round);
    int wrong = 0;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const bool same =
          is_nan(patterns[i], narrow) ? std::isnan(wide[i]) && is_nan(again[i], narrow) : again[i] == patterns[i];
      wrong += same ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a value between two neighbours is rounded to the nearer one, and the middle to the even one") {
  for (const Narrow& narrow : kNarrows) {
    std::vector<std::uint16_t> lower;
    for (std::uint16_t bits = 0; bits + 1 < narrow.infinity; ++bits) lower.push_back(bits);
    std::vector<std::uint16_t> upper;
    for (const std::uint16_t bits : lower) upper.push_back(static_cast<std::uint16_t>(bits + 1));
    const auto low = each<float>(DType::f32, DType::u16, lower, narrow.widen);
    const auto high = each<float>(DType::f32, DType::u16, upper, narrow.widen);
    std::vector<float> middle, below, above;
    for (std::size_t i = 0; i < low.size(); ++i) {
      middle.push_back(static_cast<float>((double{low[i]} + double{high[i]}) / 2));
      below.push_back(std::nextafterf(middle.back(), low[i]));
      above.push_back(std::nextafterf(middle.back(), high[i]));
    }
    const auto to_even = each<std::uint16_t>(DType::u16, DType::f32, middle, narrow.round);
    const auto down = each<std::uint16_t>(DType::u16, DType::f32, below, narrow.round);
    const auto up = each<std::uint16_t>(DType::u16, DType::f32, above, narrow.round);
    int wrong = 0;
    for (std::size_t i = 0; i < low.size(); ++i) {
      const std::uint16_t even = lower[i] % 2 == 0 ? lower[i] : upper[i];
      wrong += to_even[i] == even && down[i] == lower[i] && up[i] == upper[i] ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("what is too large becomes infinite") {
  const auto rounded =
      each<std::uint16_t>(DType::u16, DType::f32, std::vector<float>{65519.0F, 65520.0F, -1e30F}, f32_to_f16_bits);
  CHECK(rounded == std::vector<std::uint16_t>{0x7bff, 0x7c00, 0xfc00});
}

TEST_CASE("by way of a float32 that is rounded to odd, a float64 is rounded once") {
  // Rounding to float32 first would make these exact halves, and then round them the wrong way.
  const double tiny = 0x1p-40;
  std::vector<double> values;
  for (const double sign : {1.0, -1.0})
    for (int i = 0; i < 64; ++i) {
      const double half = 1.0 + (2 * i + 1) * 0x1p-11;
      values.insert(values.end(), {sign * half, sign * (half + tiny), sign * (half - tiny)});
    }
  const auto got = each<std::uint16_t>(DType::u16, DType::f64, values,
                                       [](const Expr& value) { return f32_to_f16_bits(f64_to_f32_odd(value)); });
  int wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double units = std::fabs(values[i]) * 0x1p10;
    const double nearest = std::nearbyint(units);
    const auto expected =
        static_cast<std::uint16_t>((values[i] < 0 ? 0x8000 : 0) + 0x3c00 + static_cast<int>(nearest) - 1024);
    wrong += got[i] == expected ? 0 : 1;
  }
  CHECK(wrong == 0);
  const auto odd =
      each<float>(DType::f32, DType::f64, std::vector<double>{1.5, 1.0 + tiny, -1.0 - tiny}, f64_to_f32_odd);
  CHECK(odd == std::vector<float>{1.5F, std::nextafterf(1.0F, 2.0F), std::nextafterf(-1.0F, -2.0F)});
}

TEST_CASE("an integer that float32 does not hold becomes odd as well") {
  const std::int64_t big = (std::int64_t{1} << 62) + 1;
  const auto got = each<float>(DType::f32, DType::i64,
                               std::vector<std::int64_t>{0, 7, -7, big, -big, std::int64_t{1} << 40}, int_to_f32_odd);
  const float above = std::nextafterf(0x1p62F, INFINITY);
  CHECK(got == std::vector<float>{0, 7, -7, above, -above, 0x1p40F});
}

TEST_CASE("a bitcast of a bitcast is one, and none at all where the type is the same again") {
  const Expr value = Var::make("value", DType::f32);
  const Expr bits = bitcast(DType::u32, value);
  CHECK(bits.as<Call>() != nullptr);
  CHECK(bitcast(DType::f32, bits).same_as(value));
  CHECK(bitcast(DType::u32, bits).same_as(bits));
  CHECK(bitcast(DType::i32, bits).as<Call>()->arguments.at(0).same_as(value));
}
