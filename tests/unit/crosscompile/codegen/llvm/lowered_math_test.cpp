// Tests math functions through the whole pipeline on every architecture: the expansions of passes/lower_math.
#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <regex>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

struct Expanded {
  const char* name;
  std::size_t arguments;
  double ulps;
};

constexpr Expanded kExpanded[] = {
    {"exp", 1, 2},  {"exp2", 1, 2},  {"expm1", 1, 4}, {"log", 1, 4},     {"log2", 1, 4},  {"log1p", 1, 4},
    {"sin", 1, 4},  {"cos", 1, 4},   {"tan", 1, 4},   {"tanh", 1, 4},    {"sinh", 1, 4},  {"cosh", 1, 4},
    {"asin", 1, 4}, {"acos", 1, 4},  {"atan", 1, 4},  {"sigmoid", 1, 4}, {"erf", 1, 4},   {"atan2", 2, 4},
    {"pow", 2, 4},  {"floor", 1, 0}, {"ceil", 1, 0},  {"round", 1, 0},   {"trunc", 1, 0}, {"round_even", 1, 0},
};

constexpr std::int64_t kElements = 480;

// Edge values and then values of all magnitudes, half of them where most functions are neither 0 nor infinite. None is
// subnormal, because 32-bit ARM's vectors flush subnormal numbers to zero.
Bytes arguments(unsigned seed) {
  std::vector<float> values{0.0f,       -0.0f,
                            1.0f,       -1.0f,
                            0.5f,       -0.5f,
                            88.7f,      -87.3f,
                            89.5f,      -150.0f,
                            12800.0f,   65537.0f,
                            1e10f,      -1e30f,
                            3.4e38f,    1e-30f,
                            8388609.0f, -2.5f,
                            3.5f,       HUGE_VALF,
                            -HUGE_VALF, std::numeric_limits<float>::quiet_NaN()};
  std::mt19937 random(seed);
  if (seed % 2 == 1) std::shuffle(values.begin(), values.end(), random);
  while (values.size() < static_cast<std::size_t>(kElements)) {
    const float mantissa = 1.0f + static_cast<float>(random() >> 9) * 0x1p-23f;
    const int exponent =
        values.size() % 2 == 0 ? static_cast<int>(random() % 250) - 125 : static_cast<int>(random() % 14) - 8;
    values.push_back(std::ldexp((random() & 1) != 0 ? -mantissa : mantissa, exponent));
  }
  return bytes_of(values);
}

Case math_case(const Expanded& function, DType dtype, std::uint32_t lanes, const std::vector<Bytes>& data) {
  const std::vector<DType> types(function.arguments, dtype);
  Case one = elementwise(std::string(function.name) + "_" + std::to_string(lanes), types, dtype, data, kElements, lanes,
                         [&](const std::vector<Expr>& in) { return call_math(function.name, in); });
  one.ulps = function.ulps;
  return one;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

}  // namespace

TEST_CASE("expanded math functions are within their bounds on every architecture, vectors and scalars") {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : {1u, 3u, 8u}) {
    for (const Expanded& function : kExpanded) {
      cases.push_back(math_case(function, DType::f32, lanes, {arguments(2), arguments(3)}));
      cases.back().arguments.erase(cases.back().arguments.begin() + static_cast<std::ptrdiff_t>(function.arguments),
                                   cases.back().arguments.end() - 1);
      // Results that underflow may be flushed to zero on 32-bit ARM.
      cases.back().flushed = lanes > 1;
    }
  }
  check_everywhere(cases, true);
}

TEST_CASE("round_even of narrow floats is exact for all of their values, and of others at halves and large numbers") {
  std::vector<std::uint16_t> patterns(std::size_t{1} << 16);
  std::iota(patterns.begin(), patterns.end(), std::uint16_t{0});
  std::vector<float> singles;
  std::vector<double> doubles;
  const auto add = []<class T>(std::vector<T>& values, T last) {
    const T tiny = std::numeric_limits<T>::denorm_min(), least = std::numeric_limits<T>::min();
    for (const T value : {T(0),
                          tiny,
                          2 * tiny,
                          least,
                          T(0.5),
                          T(1.5),
                          T(2.5),
                          T(127.5),
                          T(128.5),
                          last / 4 + T(0.75),
                          last / 2 - T(0.5),
                          last / 2 + T(0.5),
                          last / 2 + T(1.5),
                          last - T(0.5),
                          last - 1,
                          last,
                          last + 1,
                          last + 2,
                          2 * last - 1,
                          2 * last,
                          2 * last + 2,
                          std::numeric_limits<T>::max()}) {
      for (const T near : {value, std::nextafter(value, T(0)), std::nextafter(value, T(HUGE_VAL))})
        values.insert(values.end(), {near, -near});
    }
    values.insert(values.end(), {std::numeric_limits<T>::quiet_NaN(), -std::numeric_limits<T>::quiet_NaN()});
    while (values.size() % 8 != 0) values.push_back(T(0.5));
  };
  add(singles, 0x1p23F);
  add(doubles, 0x1p52);
  const auto round_even = [](const std::vector<Expr>& in) { return call_math(MathFunction::round_even, {in[0]}); };
  std::vector<Case> cases;
  const auto add_case = [&](DType dtype, const auto& values, std::uint32_t lanes) {
    cases.push_back(elementwise("round_even_" + std::to_string(lanes), {dtype}, dtype, {bytes_of(values)},
                                static_cast<std::int64_t>(values.size()), lanes, round_even));
  };
  for (const std::uint32_t lanes : {1u, 4u, 8u}) {
    add_case(DType::f32, singles, lanes);
    add_case(DType::f64, doubles, lanes);
    add_case(DType::f16, patterns, lanes);
    add_case(DType::bf16, patterns, lanes);
  }
  check_everywhere(cases, true);
}

TEST_CASE("no vector loop of a math function calls a library on any architecture with vectors") {
  for (const char* target :
       {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "raspberry-pi-4", "raspberry-pi-2", "armv7", "riscv64-v"}) {
    for (const Expanded& function : kExpanded) {
      CAPTURE(std::string(target));
      CAPTURE(std::string(function.name));
      const Target resolved = resolve_target(target);
      const Case one = math_case(function, DType::f32, resolved.lanes(4), {arguments(2), arguments(3)});
      const std::string text =
          codegen::emit_assembly(std::vector<Function>{passes::run_pipeline(one.function, resolved)}, resolved);
      // Matches call, bl, blx, jal and tail calls.
      const std::regex calls(R"(^\t(call\w*|bl|blx|jal|tail)\t.*)");
      for (const std::string& line : lines_of(text)) CHECK_MESSAGE(!std::regex_match(line, calls), line);
    }
  }
}
