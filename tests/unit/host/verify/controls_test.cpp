// Tests of judging a kernel's errors as a whole by those of ferry's own kernel.
#include "host/verify/controls.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "ferry/types.h"
#include "host/verify/check.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;
using verify::CheckReport;
using verify::ControlledErrors;
using verify::ControlledSum;

namespace {

const std::string kProduct =
    "def product(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) where k in 0:K }\n";

std::string product_in_c() {
  return R"(#include <stdint.h>
#include <string.h>
// ferry: product(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)
static float same(float x) { return x; }
static float float16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0xfff + ((bits >> 13) & 1)) & ~0x1fffu;
  memcpy(&x, &bits, sizeof x);
  return x;
}
void product(const float* a, const float* b, float* c, int64_t m, int64_t k, int64_t n) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      volatile float sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += OPERAND(a[i * k + l]) * OPERAND(b[l * n + j]);
      c[i * n + j] = sum;
    }
  }
}
)";
}

std::string with_operand(const std::string& operand) {
  std::string text = product_in_c();
  for (std::size_t at = 0; (at = text.find("OPERAND", at)) != std::string::npos;) text.replace(at, 7, operand);
  return text;
}

// Numbers of which A is full leave only the worst case as a bound for single elements: `iota` is not random.
CheckReport check_product(const std::string& operand, const verify::CheckLimits& limits = {}) {
  const test::Folder folder;
  verify::CheckRequest request;
  request.kernel.file = folder.file("product.c", with_operand(operand));
  request.reference = folder.file("product.tc", kProduct);
  request.call.arguments = {"A=:iota"};
  request.call.sizes = {"M=17", "N=19", "K=2053"};
  request.limits = limits;
  return verify::check(test::own_compiler(), local_device(), request);
}

}  // namespace

TEST_CASE("floats are rounded to fewer bits as a conversion to the narrower type rounds them") {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-4, 4);
  std::vector<float> values = {0.0F, -0.0F, 1.0F, 1.0F + 0x1p-11F, 1.0F + 0x1p-11F + 0x1p-23F, 1.0F + 3 * 0x1p-11F};
  for (int i = 0; i < 1000; ++i) values.push_back(uniform(random));
  std::vector<std::uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const std::vector<std::uint8_t> rounded = verify::with_bits(DType::f32, bytes, verify::bits_below(DType::f32));
  for (std::size_t i = 0; i < values.size(); ++i) {
    float found = 0;
    std::memcpy(&found, rounded.data() + i * sizeof found, sizeof found);
    CAPTURE(values[i]);
    // float16 itself has fewer bits for numbers below its smallest normal one.
    if (std::fabs(values[i]) >= 0x1p-14F) CHECK(found == f16_to_f32(f64_to_f16(double{values[i]})));
  }
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<std::uint8_t> one(sizeof infinity);
  std::memcpy(one.data(), &infinity, one.size());
  CHECK(verify::with_bits(DType::f32, one, 11) == one);
}

TEST_CASE("an error is too large beyond the geometric mean of both controls, if that says anything") {
  const auto errors = [](double kernel, double own, double rounded) {
    ControlledSum sum;
    for (int i = 0; i < 100; ++i) sum.add(1, 1 + kernel, 1 + own, 1 - rounded);
    return sum.errors(DType::f32).value();
  };
  CHECK_FALSE(errors(1e-7, 1e-7, 3e-4).are_too_large());
  CHECK_FALSE(errors(2e-6, 1e-7, 3e-4).are_too_large());  // sums in a careless order
  CHECK(errors(1e-4, 1e-7, 3e-4).are_too_large());
  CHECK(errors(3e-4, 1e-7, 3e-4).are_too_large());
  // Rounding the inputs changes little.
  CHECK_FALSE(errors(1e-5, 1e-7, 2e-6).are_too_large());
  // An own kernel without an error is not expected of others.
  CHECK_FALSE(errors(1e-6, 0, 3e-4).are_too_large());
  CHECK(errors(1e-4, 1e-7, 3e-4).bits == 11);
}

TEST_CASE("a few elements, and values of which none is finite, have no errors as a whole") {
  ControlledSum few, none;
  for (int i = 0; i < 99; ++i) few.add(1, 1, 1, 1);
  for (int i = 0; i < 1000; ++i) none.add(1, 1, std::numeric_limits<double>::quiet_NaN(), 1);
  CHECK_FALSE(few.errors(DType::f32));
  CHECK_FALSE(none.errors(DType::f32));
}

TEST_CASE("a product of operands that were rounded to float16 is wrong, whatever the bound of its elements allows") {
  const CheckReport report = check_product("float16");
  const std::string mistake = report.mistake + report.findings.mistake();
  INFO(mistake);
  REQUIRE(report.findings.checks.size() == 1);
  const verify::CheckResult& check = report.findings.checks.front();
  CHECK_FALSE(check.square_root);
  REQUIRE(check.controlled);
  CHECK(check.controlled->kernel > 0.5 * check.controlled->rounded);
  CHECK(check.controlled->are_too_large());
  CHECK(mistake.find("C is not as precise as its type: a root-mean-square error of ") == 0);
}

TEST_CASE("a product of all bits is right, though its sums are in the most careless order") {
  const CheckReport report = check_product("same");
  INFO((report.mistake + report.findings.mistake()));
  CHECK(report.is_fine());
  REQUIRE(report.findings.checks.size() == 1);
  REQUIRE(report.findings.checks.front().controlled);
  const ControlledErrors& errors = *report.findings.checks.front().controlled;
  CHECK(errors.kernel < errors.allowed / 2);
  CHECK(errors.rounded > 4 * errors.allowed);
}

TEST_CASE("where limits are given, no other error is judged") {
  const CheckReport report = check_product("float16", {1e-2, 1e4});
  CHECK(report.is_fine());
  CHECK_FALSE(report.findings.checks.front().controlled);
}
