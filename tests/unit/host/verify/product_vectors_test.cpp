// Tests of checking products by random vectors.
#include "host/verify/product_vectors.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "host/kernel/kernel.h"
#include "host/stats/random.h"
#include "host/verify/called_definition.h"
#include "host/verify/check_outputs.h"
#include "host/verify/probe_inputs.h"
#include "tests/unit/host/kernel/own_compiler.h"

using namespace ferry;
using verify::CalledDefinition;
using verify::MatrixProduct;

namespace {

// A call of a product in ferry's own notation, and what float32 makes of it.
struct Product {
  KernelSource source;
  FunctionInfo info;
  CallPlan plan;
  std::vector<float> results;

  Product(const std::string& text, const std::vector<std::string>& sizes,
          const std::vector<std::string>& arguments = {}) {
    KernelOptions options;
    options.expression = text;
    source = read_kernel(test::own_compiler(), options);
    info = function_of(source, "");
    CallOptions call;
    call.sizes = sizes;
    call.arguments = arguments;
    plan = plan_call(info, call);
  }

  const lang::Program& program() const { return source.as_text()->programs.front(); }
  std::optional<MatrixProduct> match() const { return verify::product_of(program(), plan, info.parameters.size() - 1); }
  std::vector<float> input(std::size_t p) const {
    const std::vector<std::uint8_t> bytes = plan.host_copy(p);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  // Multiplies by the lists of offsets, in float32.
  void compute(const MatrixProduct& product) {
    const std::vector<float> a = input(product.a.parameter), b = input(product.b.parameter);
    results.resize(static_cast<std::size_t>(plan.places.back()));
    for (std::size_t i = 0; i < product.batch.size(); ++i)
      for (std::size_t r = 0; r < product.rows.size(); ++r)
        for (std::size_t c = 0; c < product.columns.size(); ++c) {
          float sum = 0;
          for (std::size_t k = 0; k < product.a.inner.size(); ++k)
            sum += a[product.a.batch[i] + product.a.outer[r] + product.a.inner[k]] *
                   b[product.b.batch[i] + product.b.outer[c] + product.b.inner[k]];
          results[product.batch[i] + product.rows[r] + product.columns[c]] = sum;
        }
  }
  std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> all(results.size() * sizeof(float));
    std::memcpy(all.data(), results.data(), all.size());
    return all;
  }
  // Compares a sample of the elements, and all by vectors.
  verify::CheckResult check(double native_seconds = verify::kNativeSeconds) const {
    const CalledDefinition called(program(), info, plan, verify::bound_of(info, plan));
    std::vector<std::vector<std::uint8_t>> outputs(info.parameters.size());
    outputs.back() = bytes();
    return verify::check_outputs(called, info, outputs, {},
                                 {.work_limit = 1e3, .native_seconds = native_seconds, .least_sample = 10})
        .front();
  }
};

struct Case {
  const char* text;
  std::vector<std::string> sizes;
};

const Case kMatrix{"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) where k in 0:K }",
                   {"M=60", "K=301", "N=70"}};

std::vector<Case> cases() {
  return {
      kMatrix,
      {"def f(float(K,M) A, float(N,K) B) -> (C) { C(n,m) +=! A(k,m) * B(n,k) where k in 0:K }",
       {"M=60", "K=301", "N=70"}},
      {"def f(float(I,M,K) A, float(I,K,N) B) -> (C) { C(i,m,n) +=! A(i,m,k) * B(i,k,n) where k in 0:K }",
       {"I=3", "M=60", "K=101", "N=70"}},
      {"def f(float(K,M,L) A, float(N,L,O,K) B) -> (C) { C(o,m,n) +=! A(k,m,l) * B(n,l,o,k) where k in 0:K, l in 0:L }",
       {"K=31", "M=60", "L=7", "N=11", "O=13"}},
      {"def f(float(M,K) A, float(K) B) -> (C) { C(m) +=! A(m,k) * B(k) where k in 0:K }", {"M=2000", "K=301"}}};
}

}  // namespace

TEST_CASE("a product with any order of dimensions passes, and no wrong element of it does") {
  stats::Random random(7);
  for (const Case& each : cases()) {
    CAPTURE(each.text);
    Product product(each.text, each.sizes);
    const std::optional<MatrixProduct> match = product.match();
    REQUIRE(match);
    product.compute(*match);
    const verify::CheckResult fine = product.check();
    CHECK_MESSAGE(fine.wrong == 0, fine.first_wrong);
    CHECK(fine.vectors == 8);
    CHECK(fine.compared < fine.elements);
    for (const float by : {1.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      CAPTURE(by);
      float& wrong = product.results[random.below(product.results.size())];
      const float right = std::exchange(wrong, wrong + by);
      const verify::CheckResult found = product.check();
      CHECK(found.wrong > 0);
      CHECK(found.first_wrong.find("C[") != std::string::npos);
      wrong = right;
    }
  }
}

TEST_CASE("without the time for the vectors, a sample is all that is compared") {
  Product product(kMatrix.text, kMatrix.sizes);
  product.compute(*product.match());
  CHECK(product.check(1e-9).vectors == 0);
}

TEST_CASE("large numbers beside small ones, and the worst case of numbers that are not random, give no false alarm") {
  for (const char* arguments : {"A=:iota", "A=:uniform(1000,1001)"}) {
    CAPTURE(arguments);
    Product product(kMatrix.text, kMatrix.sizes, {arguments});
    product.compute(*product.match());
    const verify::CheckResult found = product.check();
    CHECK_MESSAGE(found.wrong == 0, found.first_wrong);
    CHECK(found.vectors == 8);
  }
}

TEST_CASE("rows that are left out are found") {
  Product product(kMatrix.text, kMatrix.sizes);
  product.compute(*product.match());
  for (std::size_t i = 70 * 17; i < 70 * 18; ++i) product.results[i] = 0;
  CHECK(product.check().wrong > 0);
}

TEST_CASE("nothing is said of inputs that are not finite") {
  Product product(kMatrix.text, kMatrix.sizes);
  product.compute(*product.match());
  std::vector<std::uint8_t> a = product.plan.host_copy(0);
  const float infinity = std::numeric_limits<float>::infinity();
  std::memcpy(a.data() + 40, &infinity, sizeof infinity);
  verify::set_contents(product.plan, 0, a);
  product.compute(*product.match());
  CHECK(product.check().vectors == 0);
}

TEST_CASE("what is no product of two whole inputs is not checked by vectors") {
  for (const char* text :
       {"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) + B(k,n) where k in 0:K }",
        "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * A(m,k) * B(k,n) where k in 0:K }",
        "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) where k in 1:K }"}) {
    CAPTURE(text);
    CHECK_FALSE(Product(text, {"M=30", "K=41", "N=20"}).match());
  }
}
