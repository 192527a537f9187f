#include "host/verify/output_comparison.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace ferry::verify {
namespace {

template <class T>
OutputComparison compare(DType dtype, const std::vector<T>& a, const std::vector<T>& b,
                         const DifferenceLimits& limits = {}) {
  const auto bytes = [](const std::vector<T>& values) {
    return std::span(reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T));
  };
  return compare_outputs("y", dtype, {static_cast<std::int64_t>(a.size())}, bytes(a), bytes(b), limits);
}

TEST_CASE("the first difference is named with its place and both values, and all are counted") {
  const OutputComparison result = compare<float>(DType::f32, {1, 2, 3, 0.7f, 5}, {1, 2, 3, 0, 6});
  CHECK(result.elements == 5);
  CHECK(result.different == 2);
  CHECK(result.first_difference == "y[3] 0.7 against 0");
  CHECK(result.largest_difference == doctest::Approx(1));
}

TEST_CASE("what another order of sums changes is no difference, what a wrong kernel computes is one") {
  CHECK(compare<float>(DType::f32, {1000, 1e-3f}, {1000.01f, 2e-3f}).different == 0);
  CHECK(compare<float>(DType::f32, {1000, 1e-3f}, {1001, 1e-3f}).different == 1);
  CHECK(compare<double>(DType::f64, {1, 2}, {1 + 1e-12, 2}).different == 0);
  CHECK(compare<double>(DType::f64, {1, 2}, {1 + 1e-8, 2}).different == 1);
}

TEST_CASE("small elements count beside large ones, and what a kernel computes wrongly allows it no more") {
  std::vector<float> exact, without_small, with_huge;
  for (int i = 0; i < 1000; ++i) {
    exact.push_back(std::exp(8 * (static_cast<float>(i) / 500 - 1)));
    without_small.push_back(i < 420 ? 0 : exact.back());
    with_huge.push_back(i < 420 ? 1e30F : exact.back());
  }
  CHECK(compare<float>(DType::f32, exact, exact).different == 0);
  CHECK(compare<float>(DType::f32, exact, without_small).different == 420);
  CHECK(compare<float>(DType::f32, without_small, exact).different == 420);
  CHECK(compare<float>(DType::f32, exact, with_huge).different == 420);
  // Most elements are 0 beside a sum whose terms cancel.
  std::vector<float> sparse(1000, 0);
  sparse[7] = 100;
  sparse[8] = 1e-4F;
  std::vector<float> other = sparse;
  other[8] = 2e-4F;
  CHECK(compare<float>(DType::f32, sparse, other).different == 0);
}

TEST_CASE("limits of the user's own replace both defaults") {
  CHECK(compare<float>(DType::f32, {1000, 1}, {1000, 1.05f}, {0.1, std::nullopt}).different == 0);
  CHECK(compare<float>(DType::f32, {1000, 1}, {1000, 1.05f}, {0.01, std::nullopt}).different == 1);
  CHECK(compare<float>(DType::f32, {1000, 1}, {1000, 1.05f}, {std::nullopt, 0.1}).different == 0);
  CHECK(compare<float>(DType::f32, {1000, 1}, {1000.5f, 1}, {std::nullopt, 0.1}).different == 1);
}

TEST_CASE("NaN is like NaN only, and infinity like itself only") {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  CHECK(compare<float>(DType::f32, {nan, inf, -inf}, {nan, inf, -inf}).different == 0);
  CHECK(compare<float>(DType::f32, {nan, 1}, {1, nan}).different == 2);
  CHECK(compare<float>(DType::f32, {nan, nan, 1}, {1, nan, 1}).nan[0] == 2);
  CHECK(compare<float>(DType::f32, {nan, nan, 1}, {1, nan, 1}).nan[1] == 1);
  CHECK(compare<float>(DType::f32, {inf, 1}, {-inf, inf}).different == 2);
  CHECK(compare<float>(DType::f32, {nan}, {0}).first_difference == "y[0] nan against 0");
}

TEST_CASE("0 and -0 are told apart, and differ where nothing may") {
  const OutputComparison loose = compare<float>(DType::f32, {0, -0.0f, 1}, {-0.0f, 0, 1});
  CHECK(loose.different == 0);
  CHECK(loose.other_zeros == 2);
  const OutputComparison exact = compare<float>(DType::f32, {0, -0.0f, 1}, {-0.0f, -0.0f, 1}, {0, 0});
  CHECK(exact.different == 1);
  CHECK(exact.first_difference == "y[0] 0 against -0");
  CHECK(compare<std::int32_t>(DType::i32, {0}, {0}).other_zeros == 0);
}

TEST_CASE("integers are equal or not, large ones to the last bit") {
  const std::int64_t large = std::int64_t{1} << 60;
  CHECK(compare<std::int64_t>(DType::i64, {large}, {large + 1}).different == 1);
  CHECK(compare<std::int64_t>(DType::i64, {large + 1}, {large + 1}).different == 0);
  CHECK(compare<std::uint64_t>(DType::u64, {~std::uint64_t{0}}, {0}).first_difference ==
        "y[0] 18446744073709551615 against 0");
}

}  // namespace
}  // namespace ferry::verify
