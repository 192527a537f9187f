#include "host/verify/check_expected.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace ferry::verify {
namespace {

template <class T>
TensorFile file_of(DType dtype, const std::vector<T>& values) {
  TensorFile file{dtype, {static_cast<std::int64_t>(values.size())}, {}};
  file.bytes.resize(values.size() * sizeof(T));
  std::memcpy(file.bytes.data(), values.data(), file.bytes.size());
  return file;
}

CheckResult check(const TensorFile& computed, const TensorFile& expected, const CheckLimits& limits = {}) {
  return check_expected({"y", computed.dtype, computed.shape, computed.bytes}, expected, limits, "ref.npy");
}

TEST_CASE("floats may differ by the rounding of the less exact type") {
  const TensorFile computed = file_of<float>(DType::f32, {1, 2, 3});
  CHECK(check(computed, file_of<double>(DType::f64, {1, 2.0001, 3})).wrong == 0);
  const CheckResult result = check(computed, file_of<double>(DType::f64, {1, 2.001, 3}));
  CHECK(result.wrong == 1);
  CHECK(result.first_wrong == "y[1] is 2, expected 2.001");
  CHECK(result.against == "ref.npy");
  CHECK(check(computed, file_of<double>(DType::f64, {1, 2.001, 3}), {.rtol = 1e-3, .atol = {}}).wrong == 0);
  CHECK(check(computed, file_of<double>(DType::f64, {1, 2.0001, 3}), {.rtol = 0, .atol = 0}).wrong == 1);
}

TEST_CASE("a NaN is expected where there is one, and nowhere else") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  CHECK(check(file_of<float>(DType::f32, {nan, infinity}), file_of<float>(DType::f32, {nan, infinity})).wrong == 0);
  CHECK(check(file_of<float>(DType::f32, {nan, infinity}), file_of<float>(DType::f32, {1, -infinity})).wrong == 2);
}

TEST_CASE("integers must be equal, whatever their types are") {
  const TensorFile computed = file_of<std::int64_t>(DType::i64, {-1, std::int64_t{1} << 60});
  CHECK(check(computed, computed).wrong == 0);
  CHECK(check(computed, file_of<std::uint64_t>(DType::u64, {~std::uint64_t{0}, std::uint64_t{1} << 60})).wrong == 1);
  CHECK(check(computed, file_of<std::int64_t>(DType::i64, {-1, (std::int64_t{1} << 60) + 1})).wrong == 1);
  CHECK(check(computed, file_of<std::int64_t>(DType::i64, {0, std::int64_t{1} << 60}), {.rtol = {}, .atol = 1}).wrong ==
        0);
}

TEST_CASE("another shape or kind of numbers is wrong as a whole") {
  const TensorFile computed = file_of<float>(DType::f32, {1, 2, 3});
  CHECK(check(computed, file_of<float>(DType::f32, {1, 2})).first_wrong == "y is f32[3], expected f32[2]");
  CHECK(check(computed, file_of<std::int32_t>(DType::i32, {1, 2, 3})).first_wrong == "y is f32[3], expected i32[3]");
}

}  // namespace
}  // namespace ferry::verify
