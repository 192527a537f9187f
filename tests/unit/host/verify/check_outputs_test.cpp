// Tests of comparing outputs with the definition of their program.
#include "host/verify/check_outputs.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <random>

#include "host/kernel/kernel.h"
#include "tests/unit/host/kernel/own_compiler.h"

using namespace ferry;
using verify::check_outputs;
using verify::CheckResult;

namespace {

struct Checked {
  lang::Program program;
  FunctionInfo info;
  CallPlan plan;

  Checked(const std::string& text, const std::string& sizes, std::vector<std::string> arguments = {"A=:iota"}) {
    KernelOptions options;
    options.expression = text;
    const KernelSource source = read_kernel(test::own_compiler(), options);
    program = program_of(source, "");
    info = function_of(source, "");
    CallOptions call;
    call.arguments = std::move(arguments);
    call.sizes = {sizes};
    plan = plan_call(info, call);
  }

  template <class T>
  CheckResult check(const std::vector<T>& output, const verify::CheckLimits& limits = {}) const {
    std::vector<std::vector<std::uint8_t>> outputs(info.parameters.size());
    outputs.back().resize(output.size() * sizeof(T));
    memcpy(outputs.back().data(), output.data(), outputs.back().size());
    const std::vector<CheckResult> results = check_outputs(program, info, plan, outputs, limits);
    REQUIRE(results.size() == 1);
    return results.front();
  }
};

const Checked& twice() {
  static const Checked checked("def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }", "N=4");
  return checked;
}

}  // namespace

TEST_CASE("NaNs are counted on both sides") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const CheckResult one_side = twice().check<float>({0, nan, nan, 6});
  CHECK(one_side.nan == 2);
  CHECK(one_side.nan_expected == 0);
  CHECK(one_side.wrong == 2);
  const Checked root("def root(float(N) A) -> (B) { B(i) = sqrt(A(i) - 2) }", "N=4");
  const CheckResult both = root.check<float>({nan, nan, 0, 1});
  CHECK(both.nan == 2);
  CHECK(both.nan_expected == 2);
  CHECK(both.wrong == 0);
}

TEST_CASE("what the definition says is right, with the limits of its type") {
  const CheckResult result = twice().check<float>({0, 2, 4, 6});
  CHECK(result.output == "B");
  CHECK(result.compared == 4);
  CHECK(result.elements == 4);
  CHECK(result.wrong == 0);
  CHECK(result.first_wrong.empty());
  CHECK(result.largest_absolute == 0);
  CHECK(result.rtol == 1e-6);
  CHECK(result.with_rounding);
}

TEST_CASE("the first wrong element is shown with what was expected, and all are counted") {
  const CheckResult result = twice().check<float>({0, 2.5f, 4, 7});
  CHECK(result.wrong == 2);
  CHECK(result.first_wrong == "B[1] is 2.50000000, expected 2.00000000");
  CHECK(result.largest_absolute == 1);
  CHECK(result.largest_relative == doctest::Approx(0.25));
}

TEST_CASE("limits that are given stand alone") {
  const CheckResult result = twice().check<float>({0, 2.5f, 4, 7}, {.rtol = 0.2, .atol = std::nullopt});
  CHECK(result.wrong == 1);
  CHECK(result.rtol == 0.2);
  CHECK_FALSE(result.with_rounding);
}

TEST_CASE("a NaN is wrong where a number was expected") {
  CHECK(twice().check<float>({0, 2, std::numeric_limits<float>::quiet_NaN(), 6}).wrong == 1);
}

TEST_CASE("integers must be equal, in their last bit too") {
  const Checked big("def big(int64(N) A) -> (B) { B(i) = A(i) + 9007199254740992 }", "N=2");
  CHECK(big.check<std::int64_t>({9007199254740992, 9007199254740993}).wrong == 0);
  const CheckResult result = big.check<std::int64_t>({9007199254740992, 9007199254740994});
  CHECK(result.wrong == 1);
  CHECK(result.first_wrong == "B[1] is 9007199254740994, expected 9007199254740993");
}

TEST_CASE("of a long evaluation a sample with the first and the last element is compared") {
  const Checked sums("def sums(float(N,K) A) -> (B) { B(i) +=! A(i,k) }", "N=4000,K=4000");
  std::vector<float> outputs(4000, -1);
  const CheckResult result = sums.check<float>(outputs);
  CHECK(result.elements == 4000);
  CHECK(result.compared < 4000);
  CHECK(result.compared >= 1000);
  CHECK(result.wrong == result.compared);
  CHECK(result.first_wrong.starts_with("B[0] is -1.0"));
}

TEST_CASE("no sample can be known before the check") {
  const Checked sums("def sums(float(N,K) A) -> (B) { B(i) +=! A(i,k) }", "N=4000,K=4000", {"A=:ones"});
  // Right at the first and the last element, and wherever the sample of an earlier version was.
  std::vector<float> outputs(4000, -1);
  outputs.front() = outputs.back() = 4000;
  std::mt19937_64 random(1);
  for (int draw = 0; draw < 3000; ++draw) outputs[random() % outputs.size()] = 4000;
  const CheckResult result = sums.check<float>(outputs);
  CHECK(result.wrong > 0);
  CHECK(result.wrong < result.compared);
}

TEST_CASE("rounding to float16 is found in long sums of random terms, and no order of the additions is") {
  constexpr std::size_t kRows = 8, kTerms = 2048;
  const std::string text = "def mm(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }";
  const Checked random(text, "M=8,N=8,K=2048", {});
  std::vector<float> a(kRows * kTerms), b(kRows * kTerms);
  const auto fill = [&](std::size_t parameter, std::vector<float>& into) {
    const std::vector<std::uint8_t> bytes = random.plan.host_copy(parameter);
    REQUIRE(bytes.size() == into.size() * sizeof(float));
    memcpy(into.data(), bytes.data(), bytes.size());
  };
  fill(0, a);
  fill(1, b);
  const auto half = [](float x) { return f16_to_f32(f32_to_f16(x)); };
  enum Way { sequential, lanes, half_operands, half_sum };
  const auto computed = [&](Way way) {
    std::vector<float> c;
    for (std::size_t m = 0; m < kRows; ++m)
      for (std::size_t n = 0; n < kRows; ++n) {
        float sums[8] = {};
        for (std::size_t k = 0; k < kTerms; ++k) {
          const float x = a[m * kTerms + k], y = b[n * kTerms + k];
          sums[way == lanes ? k % 8 : 0] += way == half_operands ? half(x) * half(y) : x * y;
        }
        float sum = 0;
        for (const float lane : sums) sum += lane;
        c.push_back(way == half_sum ? half(sum) : sum);
      }
    return c;
  };
  CHECK(random.check(computed(sequential)).wrong == 0);
  CHECK(random.check(computed(sequential)).square_root);
  CHECK(random.check(computed(lanes)).wrong == 0);
  CHECK(random.check(computed(half_operands)).wrong > 32);
  CHECK(random.check(computed(half_sum)).wrong > 32);
  // Nothing says that the errors of other terms cancel.
  const Checked regular(text, "M=8,N=8,K=2048", {"A=:ones"});
  CHECK_FALSE(regular.check(std::vector<float>(kRows * kRows, 0)).square_root);
}

TEST_CASE("0 and -0 are told apart, and differ where nothing may") {
  const CheckResult loose = twice().check<float>({-0.0f, 2, 4, 6});
  CHECK(loose.wrong == 0);
  CHECK(loose.other_zeros == 1);
  const CheckResult exact = twice().check<float>({-0.0f, 2, 4, 6}, {0, 0});
  CHECK(exact.wrong == 1);
  CHECK(exact.first_wrong == "B[0] is -0, expected 0");
}

TEST_CASE("an element whose terms may overflow in another order is not checked, unless limits are given") {
  // Terms -3e38, -1e38, 1e38 and 3e38: their sum is 0, and that of the first two is beyond the largest f32.
  const Checked sum("def f(float(N,K) A) -> (B) { B(i) +=! (A(i,k) - 1.5) * 2e38 }", "N=1,K=4");
  const CheckResult overflowed = sum.check<float>({-std::numeric_limits<float>::infinity()});
  CHECK(overflowed.compared == 1);
  CHECK(overflowed.unchecked == 1);
  CHECK(overflowed.wrong == 0);
  const CheckResult expected = sum.check<float>({0});
  CHECK(expected.unchecked == 0);
  CHECK(expected.wrong == 0);
  const CheckResult limited = sum.check<float>({-std::numeric_limits<float>::infinity()}, {.rtol = 0.1, .atol = 0.1});
  CHECK(limited.unchecked == 0);
  CHECK(limited.wrong == 1);
}
