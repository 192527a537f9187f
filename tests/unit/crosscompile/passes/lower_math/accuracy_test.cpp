// Tests every expansion against correctly rounded values, as machine code on this machine.
#include "crosscompile/target/resolve.h"
#include "tests/unit/crosscompile/passes/lower_math/native_math.h"
#include "tests/unit/crosscompile/passes/lower_math/reference.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>

using namespace ferry;
using namespace ferry::math_test;

namespace {

struct Worst {
  double ulps = 0;
  std::vector<float> arguments;
  float got = 0;
};

// Values at which behaviour changes: ends of ranges, limits inside the expansions, whole numbers and halves.
std::vector<float> edges() {
  std::vector<float> values;
  const auto add = [&](float value) {
    for (const float sign : {1.0f, -1.0f}) {
      values.push_back(sign * value);
      values.push_back(sign * std::nextafter(value, 0.0f));
      values.push_back(sign * std::nextafter(value, HUGE_VALF));
    }
  };
  for (const float value : {0.0f,        0.5f,        1.0f,
                            1.5f,        2.0f,        2.5f,
                            3.0f,        4.0f,        9.1f,
                            0.92f,       0.70710678f, 1.41421356f,
                            87.33655f,   88.72284f,   89.0f,
                            89.4160f,    90.0f,       103.9721f,
                            104.0f,      126.0f,      128.0f,
                            149.0f,      150.0f,      151.0f,
                            0.78539816f, 1.57079633f, 3.14159265f,
                            12800.0f,    65536.0f,    16367173.0f * 0x1p+72f,
                            8388608.0f,  16777216.0f, 4194304.0f,
                            0x1p-12f,    0x1p-25f,    0x1p-126f,
                            0x1p-149f,   HUGE_VALF,   std::numeric_limits<float>::max()}) {
    add(value);
  }
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  return values;
}

class Comparison {
 public:
  Comparison(const Reference& reference, const NativeMath& machine)
      : reference_(reference), machine_(machine), inputs_(2), output_(std::make_unique<Batch>()) {}

  void add(float first, float second = 0) {
    inputs_[0].values[filled_] = first;
    inputs_[1].values[filled_] = second;
    if (++filled_ == kBatch) flush();
  }

  const Worst& finish() {
    if (filled_ > 0) flush();
    return worst_;
  }

 private:
  void flush() {
    machine_.run(inputs_[0], inputs_[1], *output_);
    for (std::size_t i = 0; i < filled_; ++i) {
      const float first = inputs_[0].values[i], second = inputs_[1].values[i];
      const double expected =
          reference_.of_one != nullptr ? reference_.of_one(first) : reference_.of_two(first, second);
      const double ulps = error_in_ulps(expected, output_->values[i]);
      if (ulps > worst_.ulps) worst_ = {ulps, {first, second}, output_->values[i]};
    }
    filled_ = 0;
  }

  const Reference& reference_;
  const NativeMath& machine_;
  std::vector<Batch> inputs_;
  std::unique_ptr<Batch> output_;
  std::size_t filled_ = 0;
  Worst worst_;
};

void check(const Reference& reference, const std::string& target, const Worst& worst) {
  if (std::getenv("FERRY_PRINT_ULPS") != nullptr) {
    std::printf("%-8s %-10s %5.2f ulp at %a, %a: %a\n", reference.name.c_str(), target.c_str(), worst.ulps,
                worst.arguments.empty() ? 0 : worst.arguments[0], worst.arguments.empty() ? 0 : worst.arguments[1],
                worst.got);
  }
  char text[200] = "";
  if (worst.ulps > reference.ulps) {
    std::snprintf(text, sizeof text, "%s for %s: %.2f ulp, allowed %.0f; of %a, %a it gave %a", reference.name.c_str(),
                  target.c_str(), worst.ulps, reference.ulps, worst.arguments[0], worst.arguments[1], worst.got);
  }
  CHECK_MESSAGE(worst.ulps <= reference.ulps, std::string(text));
}

// FERRY_MATH_ONLY=exp selects one function, for work on just that function.
bool is_chosen(const Reference& reference) {
  const char* only = std::getenv("FERRY_MATH_ONLY");
  return only == nullptr || reference.name == only;
}

void sweep(std::uint64_t step) {
  for (const std::string& target : native_targets()) {
    for (const Reference& reference : references()) {
      if (reference.of_one == nullptr || !is_chosen(reference)) continue;
      const NativeMath machine(reference.name, 1, resolve_target(target), 16);
      Comparison comparison(reference, machine);
      for (std::uint64_t bits = 0; bits <= 0xffffffff; bits += step) {
        comparison.add(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      }
      for (const float value : edges()) comparison.add(value);
      check(reference, target, comparison.finish());
    }
  }
}

}  // namespace

TEST_CASE("vector math is within its bounds on every 1009th float32 and at the edges") { sweep(1009); }

TEST_CASE("vector math is within its bounds on every float32" * doctest::skip()) { sweep(1); }

TEST_CASE("vector math of two arguments is within its bounds on edges and random pairs") {
  for (const std::string& target : native_targets()) {
    for (const Reference& reference : references()) {
      if (reference.of_two == nullptr) continue;
      const NativeMath machine(reference.name, 2, resolve_target(target), 16);
      Comparison comparison(reference, machine);
      for (const float first : edges()) {
        for (const float second : edges()) comparison.add(first, second);
      }
      std::mt19937_64 random(7);
      for (int i = 0; i < 1000000; ++i) {
        const std::uint64_t bits = random();
        const float first = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        const float second = std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32));
        comparison.add(first, second);
        // Choose arguments for which the result is neither 0, infinite nor on an axis.
        comparison.add(std::fabs(first), std::ldexp(second, -std::ilogb(second) + static_cast<int>(bits % 8)));
        comparison.add(first, std::ldexp(second, std::ilogb(first) - std::ilogb(second)));
        comparison.add(1 + std::ldexp(first, -std::ilogb(first) - static_cast<int>(bits % 16) - 2),
                       std::ldexp(second, -std::ilogb(second) + static_cast<int>(bits / 16 % 16)));
      }
      check(reference, target, comparison.finish());
    }
  }
}
