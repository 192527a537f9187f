#include "host/text/array_text.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace ferry;

namespace {

// The checks below compare with the output of numpy 2.2 for the same array.
template <class T>
std::string printed(DType dtype, std::vector<std::int64_t> shape, const std::vector<T>& values) {
  return text::array_text(dtype, shape, values.data());
}
std::string f32(const std::vector<float>& values) {
  return printed(DType::f32, {static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace

TEST_CASE("floats print with the digits they need, points under each other") {
  CHECK(f32({1, 2.5f, -3}) == "[ 1.   2.5 -3. ]");
  CHECK(f32({1.0f / 3, 2.0f / 3}) == "[0.33333334 0.6666667 ]");
  CHECK(f32({0, 0, 0}) == "[0. 0. 0.]");
  CHECK(f32({-1.5f, 0.25f}) == "[-1.5   0.25]");
  CHECK(printed<double>(DType::f64, {3}, {1.0 / 3, 1e-3, 2.0 / 3}) == "[0.33333333 0.001      0.66666667]");
}

TEST_CASE("floats of very different sizes print with exponents") {
  CHECK(f32({1e-5f, 1, 2}) == "[1.e-05 1.e+00 2.e+00]");
  CHECK(f32({1e10f, 1.5f}) == "[1.0e+10 1.5e+00]");
  CHECK(f32({123456.789f, 0.5f}) == "[1.2345679e+05 5.0000000e-01]");
  CHECK(f32({0.0001234f, 123.4567f}) == "[1.234000e-04 1.234567e+02]");
  CHECK(f32({1e-4f, 0.05f}) == "[0.0001 0.05  ]");
}

TEST_CASE("infinities and NaN print by name") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(f32({nan, 1, -INFINITY}) == "[ nan   1. -inf]");
}

TEST_CASE("narrow floats print with the digits that tell them apart in their own type") {
  const std::vector<std::uint16_t> halves = {f32_to_f16(0.1f), f32_to_f16(1.0f / 3), f32_to_f16(1000)};
  CHECK(printed(DType::f16, {3}, halves) == "[9.998e-02 3.333e-01 1.000e+03]");
  CHECK(printed(DType::bf16, {1}, std::vector<std::uint16_t>{f32_to_bf16(1.0f / 3)}) == "[0.334]");
}

TEST_CASE("rows and planes are bracketed, integers and bools aligned") {
  CHECK(printed<float>(DType::f32, {2, 2}, {1, 2, 3, 4.5f}) == "[[1.  2. ]\n [3.  4.5]]");
  CHECK(printed<std::int32_t>(DType::i32, {2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}) ==
        "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
  CHECK(printed<std::int64_t>(DType::i64, {3}, {-1, 100, 7}) == "[ -1 100   7]");
  CHECK(printed<std::uint8_t>(DType::boolean, {2}, {1, 0}) == "[ True False]");
}

TEST_CASE("long rows are broken into lines") {
  std::vector<float> eighths(30), thirds(40);
  for (std::size_t i = 0; i < eighths.size(); ++i) eighths[i] = static_cast<float>(i) / 8;
  for (std::size_t i = 0; i < thirds.size(); ++i) thirds[i] = static_cast<float>(i) / 3;
  CHECK(f32(eighths) ==
        "[0.    0.125 0.25  0.375 0.5   0.625 0.75  0.875 1.    1.125 1.25  1.375\n"
        " 1.5   1.625 1.75  1.875 2.    2.125 2.25  2.375 2.5   2.625 2.75  2.875\n"
        " 3.    3.125 3.25  3.375 3.5   3.625]");
  CHECK(printed(DType::f32, {2, 20}, thirds) ==
        "[[ 0.          0.33333334  0.6666667   1.          1.3333334   1.6666666\n"
        "   2.          2.3333333   2.6666667   3.          3.3333333   3.6666667\n"
        "   4.          4.3333335   4.6666665   5.          5.3333335   5.6666665\n"
        "   6.          6.3333335 ]\n"
        " [ 6.6666665   7.          7.3333335   7.6666665   8.          8.333333\n"
        "   8.666667    9.          9.333333    9.666667   10.         10.333333\n"
        "  10.666667   11.         11.333333   11.666667   12.         12.333333\n"
        "  12.666667   13.        ]]");
}

TEST_CASE("a tensor of rank 0 is its element, an empty one is empty brackets") {
  CHECK(printed<float>(DType::f32, {}, {3}) == "3.0");
  CHECK(printed<std::int32_t>(DType::i32, {}, {7}) == "7");
  CHECK(printed<float>(DType::f32, {0, 3}, {}) == "[]");
}
