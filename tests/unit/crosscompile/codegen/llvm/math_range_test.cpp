// Tests float32 math over its whole range as machine code for every kind of target: SSE, AVX2 and AVX-512 natively,
// 32-bit and 64-bit NEON, RISC-V vectors and scalars in emulators. lower_math's own tests try more values on this
// machine.
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

struct Function1 {
  const char* name;
  double ulps;
};
constexpr Function1 kFunctions[] = {{"exp", 2},   {"exp2", 2}, {"expm1", 4}, {"log", 4},  {"log2", 4},
                                    {"log1p", 4}, {"sinh", 4}, {"tanh", 4},  {"erf", 4},  {"sigmoid", 4},
                                    {"sin", 4},   {"cos", 4},  {"tan", 4},   {"asin", 4}, {"atan", 4}};

// This many steps of a prime cover all of float32, including subnormal numbers, infinities and NaN.
constexpr std::int64_t kElements = 1 << 15;
constexpr std::uint32_t kStep = 131071;

Bytes whole_range(bool with_subnormals) {
  std::vector<float> values;
  for (std::uint32_t bits = 0; values.size() < static_cast<std::size_t>(kElements); bits += kStep) {
    const float value = std::bit_cast<float>(bits);
    values.push_back(with_subnormals || std::isnormal(value) || !std::isfinite(value) ? value : 1.0f);
  }
  return bytes_of(values);
}

std::vector<Case> cases_of(std::uint32_t lanes, const Bytes& arguments) {
  std::vector<Case> cases;
  for (const Function1& function : kFunctions) {
    cases.push_back(elementwise(std::string(function.name) + "_range", {DType::f32}, DType::f32, {arguments}, kElements,
                                lanes, [&](const std::vector<Expr>& in) { return call_math(function.name, in); }));
    cases.back().ulps = function.ulps;
    cases.back().flushed = lanes > 1;
  }
  return cases;
}

}  // namespace

TEST_CASE("vectors of math functions are within their bounds over the whole range on every architecture") {
  std::vector<Variant> exact, flushing;
  for (const Variant& variant : all_variants()) (variant.is_32_bit() ? flushing : exact).push_back(variant);
  check_on_all(exact, cases_of(8, whole_range(true)), true);
  check_on_all(flushing, cases_of(8, whole_range(false)), true);
}

TEST_CASE("scalars of math functions are within their bounds over the whole range on every architecture") {
  check_everywhere(cases_of(1, whole_range(true)), true);
}

// Users of erf multiply 1 + erf(x) by x, which has to be 0 for any x far below 0.
TEST_CASE("erf is exactly 1 or -1 from 4 on, on every architecture") {
  std::vector<float> values;
  for (const float x : {4.0f, 4.5f, 10.0f, 1e3f, 1e10f, 3e38f, INFINITY}) values.insert(values.end(), {x, -x});
  std::vector<Case> cases;
  for (const std::uint32_t lanes : {1, 2}) {
    cases.push_back(elementwise("erf_limit_" + std::to_string(lanes), {DType::f32}, DType::f32, {bytes_of(values)},
                                static_cast<std::int64_t>(values.size()), lanes,
                                [](const std::vector<Expr>& in) { return call_math("erf", in); }));
    cases.back().ulps = 0;
  }
  check_on_all(all_variants(), cases, true);
}
