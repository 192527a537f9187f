// Tests math functions through the whole pipeline on every architecture: the expansions of passes/lower_math.
#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
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
    {"pow", 2, 4},  {"floor", 1, 0}, {"ceil", 1, 0},  {"round", 1, 0},   {"trunc", 1, 0},
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
