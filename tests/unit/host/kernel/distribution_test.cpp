#include "host/kernel/distribution.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "ferry/error.h"
#include "host/kernel/call_plan.h"

using namespace ferry;

namespace {

constexpr std::uint64_t kMany = 200'000;

std::optional<std::int64_t> no_sizes(const std::string&) { return std::nullopt; }

template <class T>
std::vector<T> drawn(const std::string& text, DType dtype, std::uint64_t seed = 0, std::uint64_t count = kMany) {
  const std::vector<std::uint8_t> bytes = draw(parse_distribution(text).value(), dtype, seed, count, no_sizes);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<double> drawn_floats(const std::string& text, DType dtype) {
  std::vector<double> values;
  switch (dtype) {
    case DType::f16:
      for (const std::uint16_t bits : drawn<std::uint16_t>(text, dtype)) values.push_back(f16_to_f32(bits));
      break;
    case DType::bf16:
      for (const std::uint16_t bits : drawn<std::uint16_t>(text, dtype)) values.push_back(bf16_to_f32(bits));
      break;
    case DType::f32:
      for (const float value : drawn<float>(text, dtype)) values.push_back(value);
      break;
    default: values = drawn<double>(text, dtype);
  }
  return values;
}

// The largest distance between the values' distribution function and the given one (Kolmogorov and Smirnov).
template <class F>
double distance(std::vector<double> values, F probability) {
  std::sort(values.begin(), values.end());
  double largest = 0;
  const auto count = static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = probability(values[i]);
    largest = std::max({largest, std::abs(expected - static_cast<double>(i) / count),
                        std::abs(expected - static_cast<double>(i + 1) / count)});
  }
  return largest;
}

// A correct generator exceeds this with a probability of 1e-6.
const double kFar = 2.7 / std::sqrt(static_cast<double>(kMany));

}  // namespace

TEST_CASE("below(N) draws every number from 0 to N - 1 equally often, and no other") {
  for (const int n : {1, 2, 7, 1000}) {
    CAPTURE(n);
    std::map<std::int32_t, double> counts;
    for (const std::int32_t value : drawn<std::int32_t>("below(" + std::to_string(n) + ")", DType::i32))
      ++counts[value];
    REQUIRE(counts.size() == static_cast<std::size_t>(n));
    CHECK(counts.begin()->first == 0);
    CHECK(counts.rbegin()->first == n - 1);
    // Pearson's chi-squared; its mean is n - 1 and its deviation sqrt(2 (n - 1)).
    double chi = 0;
    const double expected = static_cast<double>(kMany) / n;
    for (const auto& [value, count] : counts) chi += (count - expected) * (count - expected) / expected;
    CHECK(chi < n - 1 + 6 * std::sqrt(2.0 * n));
  }
}

TEST_CASE("below() and uniform() reach the ends of a type and do not leave it") {
  const auto bytes = drawn<std::uint8_t>("below(256)", DType::u8);
  CHECK(*std::min_element(bytes.begin(), bytes.end()) == 0);
  CHECK(*std::max_element(bytes.begin(), bytes.end()) == 255);
  const auto small = drawn<std::int8_t>("uniform(-128,128)", DType::i8);
  CHECK(*std::min_element(small.begin(), small.end()) == -128);
  CHECK(*std::max_element(small.begin(), small.end()) == 127);
  const auto large = drawn<std::int64_t>("uniform(-9223372036854775808,9223372036854775807)", DType::i64);
  CHECK(*std::min_element(large.begin(), large.end()) < -9'000'000'000'000'000'000);
  CHECK(*std::max_element(large.begin(), large.end()) > 9'000'000'000'000'000'000);
  const auto bits = drawn<std::uint8_t>("below(2)", DType::boolean);
  CHECK(std::count(bits.begin(), bits.end(), 1) + std::count(bits.begin(), bits.end(), 0) == kMany);
}

TEST_CASE("uniform(A,B) stays inside of the interval in every type of float, and is even") {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const auto& [low, high] : {std::pair{-1.0, 1.0}, {0.0, 1.0}, {0.1, 0.2}, {-3.3, -3.1}, {0.0, 1e-3}}) {
      CAPTURE(std::string(dtype_name(dtype)));
      CAPTURE(low);
      const std::vector<double> values =
          drawn_floats("uniform(" + std::to_string(low) + "," + std::to_string(high) + ")", dtype);
      CHECK(*std::min_element(values.begin(), values.end()) >= low);
      CHECK(*std::max_element(values.begin(), values.end()) < high);
      double sum = 0;
      for (const double value : values) sum += value;
      CHECK(std::abs(sum / static_cast<double>(kMany) - (low + high) / 2) < 0.02 * (high - low));
      if (dtype == DType::f64 || dtype == DType::f32)
        CHECK(distance(values, [low = low, high = high](double x) { return (x - low) / (high - low); }) < kFar);
    }
  }
}

TEST_CASE("normal has the normal distribution with the given mean and deviation") {
  const auto phi = [](double mean, double deviation) {
    return [=](double x) { return std::erfc(-(x - mean) / deviation / std::sqrt(2.0)) / 2; };
  };
  CHECK(distance(drawn_floats("normal", DType::f32), phi(0, 1)) < kFar);
  CHECK(distance(drawn_floats("normal", DType::f64), phi(0, 1)) < kFar);
  CHECK(distance(drawn_floats("normal(5,0.02)", DType::f64), phi(5, 0.02)) < kFar);
  CHECK(distance(drawn_floats("normal", DType::f64), phi(0.05, 1)) > kFar);
  const std::vector<double> halves = drawn_floats("normal(-2,0.5)", DType::f16);
  double sum = 0;
  for (const double value : halves) sum += value;
  CHECK(std::abs(sum / static_cast<double>(kMany) + 2) < 0.01);
  CHECK(drawn_floats("normal(3,0)", DType::f32) == std::vector<double>(kMany, 3.0));
}

TEST_CASE("an element depends on its position and the seed alone") {
  const auto ten = drawn<std::int32_t>("below(1000000)", DType::i32, 3, 10);
  auto twenty = drawn<std::int32_t>("below(1000000)", DType::i32, 3, 20);
  twenty.resize(10);
  CHECK(ten == twenty);
  CHECK(ten != drawn<std::int32_t>("below(1000000)", DType::i32, 4, 10));
}

TEST_CASE("what is no distribution is refused as it is typed") {
  for (const char* text : {"below", "below()", "below(0)", "below(-1)", "below(1.5)", "below(1,2)", "uniform",
                           "uniform(1)", "uniform(1,1)", "uniform(2,1)", "uniform(0,inf)", "uniform(0,nan)",
                           "normal(1)", "normal(0,-1)", "normal()", "normal(0,1", "below(1)x", "poisson(1)"}) {
    CAPTURE(text);
    CHECK(!parse_distribution(text));
  }
}

TEST_CASE("a type that has no such values says so") {
  const auto refusal = [](const std::string& text, DType dtype) -> std::string {
    try {
      draw(parse_distribution(text).value(), dtype, 0, 4, no_sizes);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal("below(257)", DType::u8) == "u8 has no 256");
  CHECK(refusal("uniform(-1,5)", DType::u32) == "u32 has no -1");
  CHECK(refusal("below(3)", DType::boolean) == "bool has no 2");
  CHECK(refusal("uniform(0.5,2)", DType::i32) == "expected whole numbers for i32, got 0.5");
  CHECK(refusal("normal", DType::i32) == "normal is for floats, got i32");
  CHECK(refusal("below(5)", DType::f32) == "below() is for whole numbers, got f32; see uniform(0,B)");
  CHECK(refusal("below(N)", DType::i32) == "'N' is neither a number nor a size of the kernel");
  CHECK(refusal("uniform(1.00001,1.00002)", DType::bf16) == "no bf16 lies between the two");
}

TEST_CASE("full draws any integer of the type, and floats of all magnitudes between two powers of two") {
  const auto ends = [](const auto& values) {
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    return std::pair(static_cast<double>(*least), static_cast<double>(*greatest));
  };
  CHECK(ends(drawn<std::int8_t>("full", DType::i8)) == std::pair(-128.0, 127.0));
  CHECK(ends(drawn<std::uint8_t>("full", DType::u8)) == std::pair(0.0, 255.0));
  CHECK(ends(drawn<std::uint8_t>("full", DType::boolean)) == std::pair(0.0, 1.0));
  CHECK(ends(drawn<std::int64_t>("full", DType::i64)).first < -0.999 * 0x1p63);
  CHECK(ends(drawn<std::uint64_t>("full", DType::u64)).second > 0.999 * 0x1p64);
  for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    std::vector<double> logarithms;
    std::size_t negative = 0;
    for (const double value : drawn_floats("full", type)) {
      logarithms.push_back(std::log2(std::abs(value)));
      negative += value < 0 ? 1 : 0;
    }
    const double greatest = type == DType::f16 ? 2 : 4;
    CHECK(std::abs(static_cast<double>(negative) / kMany - 0.5) < 0.01);
    const auto probability = [&](double x) { return std::clamp((x + 4) / (greatest + 4), 0.0, 1.0); };
    if (type == DType::f64 || type == DType::f32) CHECK(distance(std::move(logarithms), probability) < kFar);
  }
  CHECK_FALSE(parse_distribution("full(1)"));
  CHECK(range_text(parse_distribution("full").value(), DType::i16) == "from -32768 to 32767");
  CHECK(range_text(parse_distribution("full").value(), DType::u64) == "from 0 to 18446744073709551615");
  CHECK(range_text(parse_distribution("full").value(), DType::f32) == "of magnitudes 2^-4 to 2^4");
  CHECK(range_text(parse_distribution("normal(0,2)").value(), DType::f32) == "normal with mean 0 and deviation 2");
}
