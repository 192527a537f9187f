#include "device-runtime/handlers/fresh_values.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

namespace ferry::device {
namespace {

// Draws each line from itself and the one that stands so many bytes in front of it.
template <class Float>
std::vector<Float> drawn(DType dtype, const std::vector<Float>& given, std::uint64_t seed = 1,
                         std::size_t distance = 0) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(given.data());
  const ValueRange range = range_of(dtype, bytes, given.size());
  RandomStream random({seed, 0});
  LineStream lines(random);
  std::vector<Float> values(given.size());
  for (std::size_t at = 0; at < given.size() * sizeof(Float); at += kLineBytes)
    lines.draw(dtype, range, bytes + at, bytes + (at >= distance ? at - distance : at),
               reinterpret_cast<std::uint8_t*>(values.data()) + at);
  return values;
}

template <class Float>
void check_numbers(DType dtype) {
  std::vector<Float> given;
  for (int i = 0; i < 1024; ++i)
    given.push_back(std::sin(static_cast<Float>(i)) * std::exp2(static_cast<Float>(i % 9)));
  const std::vector<Float> values = drawn(dtype, given);
  std::set<Float> others(values.begin(), values.end());
  CHECK(others.size() > 1000);
  int changed = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    CHECK(std::signbit(values[i]) == std::signbit(given[i]));
    CHECK(std::abs(values[i]) <= std::abs(given[i]));
    CHECK(std::abs(values[i]) >= std::abs(given[i]) / 2);
    changed += std::abs(values[i] - given[i]) > std::abs(given[i]) / 256;
  }
  CHECK(changed > 1000);
  CHECK(drawn(dtype, given) == values);
  CHECK(drawn(dtype, given, 2) != values);
}

TEST_CASE("numbers get other values of their sign, and of at least half their magnitude") {
  check_numbers<float>(DType::f32);
  check_numbers<double>(DType::f64);
}

template <class Float>
void check_kept(DType dtype) {
  using Limits = std::numeric_limits<Float>;
  std::vector<Float> given;
  for (int i = -64; i < 64; ++i) given.push_back(static_cast<Float>(i) * static_cast<Float>(i));
  for (const Float value : {Float{0}, -Float{0}, Limits::infinity(), -Limits::infinity(), Limits::denorm_min(),
                            Limits::max(), Limits::lowest(), Float{1} / Limits::epsilon()})
    given.push_back(value);
  given.resize(256, 1);
  CHECK(drawn(dtype, given) == given);
  given.assign(16, Limits::quiet_NaN());
  for (const Float value : drawn(dtype, given)) CHECK(std::isnan(value));
}

TEST_CASE("integers, infinities, NaN and subnormal numbers stay as they are") {
  check_kept<float>(DType::f32);
  check_kept<double>(DType::f64);
}

TEST_CASE("no number leaves the range of those that were given") {
  std::vector<float> given;
  for (int i = 0; i < 4096; ++i) given.push_back((i % 2 == 0 ? 3.1F : -7.9F) + static_cast<float>(i) * 1e-5F);
  const std::vector<float> values = drawn(DType::f32, given);
  const auto [least, most] = std::ranges::minmax(given);
  for (const float value : values) {
    CHECK(value >= least);
    CHECK(value <= most);
  }
  given.assign(64, 3.5F);
  CHECK(drawn(DType::f32, given) == given);
}

template <class Element>
void check_mixed(DType dtype) {
  constexpr std::size_t kElements = kLineBytes / sizeof(Element), kLines = 64;
  std::vector<Element> given;
  for (std::size_t i = 0; i < kLines * kElements; ++i) given.push_back(static_cast<Element>(i * 257U / 3));
  CHECK(drawn(dtype, given) == given);
  const std::vector<Element> mixed = drawn(dtype, given, 1, kLineBytes);
  std::size_t own = 0;
  for (std::size_t i = kElements; i < mixed.size(); ++i) {
    CHECK((mixed[i] == given[i] || mixed[i] == given[i - kElements]));
    if (i % kElements == 0) CHECK(mixed[i] == given[i]);
    if (i % kElements == kElements - 1) CHECK(mixed[i] == given[i - kElements]);
    own += mixed[i] == given[i];
  }
  CHECK(own > mixed.size() * 2 / 5);
  CHECK(own < mixed.size() * 3 / 5);
}

TEST_CASE("each line begins as one and ends as another") {
  check_mixed<std::uint8_t>(DType::u8);
  check_mixed<std::uint16_t>(DType::f16);
  check_mixed<std::uint16_t>(DType::i16);
}

}  // namespace
}  // namespace ferry::device
