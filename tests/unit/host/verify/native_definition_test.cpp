// Tests of comparing all elements of an output with the compiled definition.
#include "host/verify/native_definition.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "host/kernel/kernel.h"
#include "host/verify/check_outputs.h"
#include "host/verify/probe_inputs.h"
#include "module/float_element.h"
#include "tests/unit/host/kernel/own_compiler.h"

using namespace ferry;
using lang::RoundingBound;
using verify::CheckResult;

namespace {

// So many multiplications that the reference would take a sample.
constexpr std::size_t kM = 187, kK = 201, kN = 213;

struct Product {
  lang::Program program;
  FunctionInfo info;
  CallPlan plan;
  std::vector<float> right;  // what a plain loop computes

  explicit Product(const std::vector<std::string>& arguments = {}, bool rounds_operands = false) {
    KernelOptions options;
    options.expression = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
    const KernelSource source = read_kernel(test::own_compiler(), options);
    program = program_of(source, "");
    info = function_of(source, "");
    CallOptions call;
    call.sizes = {"M=" + std::to_string(kM), "K=" + std::to_string(kK), "N=" + std::to_string(kN)};
    call.arguments = arguments;
    plan = plan_call(info, call);
    const std::vector<float> a = input(0, rounds_operands), b = input(1, rounds_operands);
    right.resize(kM * kN);
    for (std::size_t m = 0; m < kM; ++m)
      for (std::size_t k = 0; k < kK; ++k)
        for (std::size_t n = 0; n < kN; ++n) right[m * kN + n] += a[m * kK + k] * b[k * kN + n];
  }

  std::vector<float> input(std::size_t parameter, bool rounds) const {
    const std::vector<std::uint8_t> bytes = plan.host_copy(parameter);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    for (float& value : values)
      if (rounds) value = f16_to_f32(f32_to_f16(value));
    return values;
  }

  CheckResult check(const std::vector<float>& output, RoundingBound bound, const verify::CheckEffort& effort = {}) {
    if (native == nullptr) native = std::make_unique<verify::NativeDefinition>(*test::own_compiler(), program);
    const verify::CalledDefinition called(program, info, plan, bound, native.get());
    std::vector<std::vector<std::uint8_t>> outputs(3);
    outputs[2].resize(output.size() * sizeof(float));
    std::memcpy(outputs[2].data(), output.data(), outputs[2].size());
    return check_outputs(called, info, outputs, {}, effort).at(0);
  }

  std::unique_ptr<verify::NativeDefinition> native;
};

constexpr RoundingBound kBounds[] = {RoundingBound::square_root, RoundingBound::worst_case};
// So little that the reference evaluates a hundredth of the elements.
constexpr verify::CheckEffort kLittle{.work_limit = verify::kWorkLimit / 4, .least_sample = 400};

}  // namespace

TEST_CASE("all elements of a large product are compared, and none of a plain loop's is wrong") {
  Product product;
  for (const RoundingBound bound : kBounds) {
    const CheckResult result = product.check(product.right, bound);
    CHECK(result.first_wrong == "");
    CHECK(result.compared == kM * kN);
    CHECK(result.elements == kM * kN);
  }
}

TEST_CASE("a single wrong element is found wherever it is") {
  Product product;
  for (const RoundingBound bound : kBounds) {
    for (const std::size_t at : {std::size_t{0}, kN, kM * kN / 2, kM * kN - 2, kM * kN - 1}) {
      CAPTURE(at);
      std::vector<float> output = product.right;
      output[at] += 0.01F;
      const CheckResult result = product.check(output, bound, kLittle);
      CHECK(result.wrong == 1);
      CHECK(result.compared == kM * kN);
      const std::string name = "C[" + std::to_string(at / kN) + "," + std::to_string(at % kN) + "]";
      CHECK(result.first_wrong.substr(0, name.size()) == name);
    }
  }
}

TEST_CASE("of many wrong elements as many are evaluated as a sample has") {
  Product product;
  const CheckResult result = product.check(std::vector<float>(kM * kN, 1e6F), RoundingBound::square_root);
  CHECK(result.compared < kM * kN);
  CHECK(result.wrong == result.compared);
}

TEST_CASE("a product of operands rounded to float16 is found") {
  Product product({}, true);
  const CheckResult result = product.check(product.right, RoundingBound::square_root);
  CHECK(result.wrong > 1000);
}

TEST_CASE("exact sums have to be equal, all of them") {
  Product product({"A=:iota"});
  // Whole numbers, all exact.
  for (float& value : product.right) value = 0;
  const std::vector<float> a = product.input(0, false);
  std::vector<float> ones(kK * kN, 1.0F);
  std::vector<std::uint8_t> bytes(ones.size() * sizeof(float));
  std::memcpy(bytes.data(), ones.data(), bytes.size());
  verify::set_contents(product.plan, 1, std::move(bytes));
  for (std::size_t m = 0; m < kM; ++m) {
    double sum = 0;
    for (std::size_t k = 0; k < kK; ++k) sum += a[m * kK + k];
    for (std::size_t n = 0; n < kN; ++n) product.right[m * kN + n] = static_cast<float>(sum);
  }
  const CheckResult result = product.check(product.right, RoundingBound::exact, kLittle);
  CHECK(result.first_wrong == "");
  CHECK(result.compared == kM * kN);
  product.right[kN + 3] = std::nextafter(product.right[kN + 3], 0.0F);
  CHECK(product.check(product.right, RoundingBound::exact, kLittle).wrong == 1);
}

TEST_CASE("a NaN has to be where the definition has one") {
  Product product;
  std::vector<float> output = product.right;
  output[kN + 5] = std::numeric_limits<float>::quiet_NaN();
  const CheckResult result = product.check(output, RoundingBound::square_root, kLittle);
  CHECK(result.wrong == 1);
  CHECK(result.nan == 1);
  CHECK(result.nan_expected == 0);
}

TEST_CASE("a definition whose extent is a scalar is compiled, and finds one wrong element") {
  KernelOptions options;
  options.expression = "def f(float(M,K) A, float(K,N) B, int n) -> (C) { C(i,j) +=! A(i,k) * B(k,j) where k in 0:n }";
  const KernelSource source = read_kernel(test::own_compiler(), options);
  const lang::Program program = program_of(source, "");
  const FunctionInfo info = function_of(source, "");
  CallOptions call;
  call.sizes = {"M=187", "K=213", "N=201"};
  call.arguments = {"n=207"};
  const CallPlan plan = plan_call(info, call);
  const verify::NativeDefinition native(*test::own_compiler(), program);
  const verify::CalledDefinition called(program, info, plan, RoundingBound::square_root, &native);
  const auto floats = [&](std::size_t parameter) {
    const std::vector<std::uint8_t> bytes = plan.host_copy(parameter);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  };
  const std::vector<float> a = floats(0), b = floats(1);
  std::vector<float> right(187 * 201);
  for (std::size_t i = 0; i < 187; ++i)
    for (std::size_t k = 0; k < 207; ++k)
      for (std::size_t j = 0; j < 201; ++j) right[i * 201 + j] += a[i * 213 + k] * b[k * 201 + j];
  for (const std::size_t wrong : {std::size_t{0}, std::size_t{1}}) {
    CAPTURE(wrong);
    if (wrong != 0) right[20'011] += 1;
    std::vector<std::vector<std::uint8_t>> outputs(4);
    outputs[3].resize(right.size() * sizeof(float));
    std::memcpy(outputs[3].data(), right.data(), outputs[3].size());
    const CheckResult found = check_outputs(called, info, outputs, {}, {}).at(0);
    CHECK(found.wrong == wrong);
    CHECK(found.compared == right.size());
  }
}
