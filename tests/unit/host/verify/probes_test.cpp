// Tests of probing kernels: which mistakes and downgrades of precision they find, and that kernels that are right pass,
// in whatever order they add. The kernels are functions of this program.
#include "host/verify/probes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "ferry/kernel/kernel_failed.h"
#include "host/kernel/kernel.h"
#include "tests/unit/host/kernel/own_compiler.h"

using namespace ferry;
using verify::Outputs;
using verify::Probe;

namespace {

struct Probed {
  FunctionInfo info;
  CallPlan plan;
  std::vector<verify::Definition> definitions;

  Probed(const std::string& text, const std::string& sizes, std::vector<std::string> arguments = {}) {
    KernelOptions options;
    options.expression = text;
    const KernelSource source = read_kernel(test::own_compiler(), options);
    info = function_of(source, "");
    definitions = verify::definitions_of(program_of(source, ""), info, {}, test::own_compiler());
    CallOptions call;
    call.arguments = std::move(arguments);
    call.sizes = {sizes};
    plan = plan_call(info, call);
  }

  std::vector<Probe> run(const verify::CallAgain& kernel, bool thorough = false,
                         verify::CheckLimits limits = {}) const {
    return run_probes(info, plan, definitions, {limits, 7, thorough}, kernel);
  }
};

template <class T>
std::vector<T> input(const CallPlan& plan, std::size_t parameter) {
  const std::vector<std::uint8_t> bytes = plan.host_copy(parameter);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T>
Outputs output(const CallPlan& plan, const std::vector<T>& values) {
  Outputs outputs(plan.shapes.size());
  outputs.back().resize(values.size() * sizeof(T));
  std::memcpy(outputs.back().data(), values.data(), outputs.back().size());
  return outputs;
}

std::size_t extent(const CallPlan& plan, std::size_t parameter, std::size_t dimension) {
  return static_cast<std::size_t>(plan.shapes[parameter][dimension]);
}

// Returns "subnormal numbers", "random numbers M=1,N=1,K=1": the probes that found a mistake.
std::vector<std::string> found_by(const std::vector<Probe>& probes) {
  std::vector<std::string> names;
  for (const Probe& probe : probes)
    if (!probe.mistake().empty()) names.push_back(probe.inputs + (probe.sizes.empty() ? "" : " " + probe.sizes));
  return names;
}

bool is_found_by(const std::vector<Probe>& probes, const std::string& name) {
  return std::ranges::any_of(found_by(probes), [&](const std::string& one) { return one.starts_with(name); });
}

const Probed& product() {
  static const Probed probed("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                             "M=12,N=10,K=100");
  return probed;
}

using Term = std::function<float(float, float)>;
using Sum = std::function<float(const std::vector<float>&)>;

float in_order(const std::vector<float>& terms) {
  float sum = 0;
  for (const float term : terms) sum += term;
  return sum;
}

Outputs multiplied(const CallPlan& plan, const Term& term, const Sum& sum = in_order) {
  const std::vector<float> a = input<float>(plan, 0), b = input<float>(plan, 1);
  const std::size_t m = extent(plan, 0, 0), k = extent(plan, 0, 1), n = extent(plan, 1, 1);
  std::vector<float> c, terms(k);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t l = 0; l < k; ++l) terms[l] = term(a[i * k + l], b[l * n + j]);
      c.push_back(sum(terms));
    }
  return output(plan, c);
}

float times(float x, float y) { return x * y; }
float half(float x) { return f16_to_f32(f32_to_f16(x)); }
float brain(float x) { return bf16_to_f32(f32_to_bf16(x)); }
float tensor(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x1000) & ~std::uint32_t{0x1fff};  // 10 bits of the significand are kept
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

}  // namespace

TEST_CASE("products of narrower operands are found in exact sums, and no order of the additions is") {
  const auto probes = [&](const Term& term, const Sum& sum = in_order) {
    return product().run([&](const CallPlan& plan) { return multiplied(plan, term, sum); });
  };
  const std::vector<Probe> right = probes(times);
  REQUIRE(right.size() == 2);
  CHECK(right[0].inputs == "A: odd integers of 12 bits; B: -1, 0, 1");
  CHECK(right[1].inputs == "B: odd integers of 12 bits; A: -1, 0, 1");
  for (const Probe& probe : right) {
    REQUIRE(probe.checks.size() == 1);
    CHECK(probe.checks[0].exact == 120);
    CHECK(probe.checks[0].compared == 120);
  }
  CHECK(found_by(right).empty());
  CHECK(found_by(probes(times, [](std::vector<float> terms) {
          std::ranges::reverse(terms);
          return in_order(terms);
        })).empty());
  CHECK(found_by(probes(times, [](const std::vector<float>& terms) {
          float lanes[8] = {};
          for (std::size_t i = 0; i < terms.size(); ++i) lanes[i % 8] += terms[i];
          return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
        })).empty());
  for (const auto& narrow : {half, brain, tensor}) {
    CHECK(found_by(probes([&](float x, float y) { return narrow(x) * narrow(y); })).size() == 2);
    CHECK(found_by(probes([&](float x, float y) { return x * narrow(y); })).size() == 1);
  }
  CHECK(found_by(probes(times, [](const std::vector<float>& terms) { return half(in_order(terms)); })).size() == 2);
}

TEST_CASE("long sums have fewer terms other than 0, so that they are exact too") {
  const Probed sums("def f(float(N,K) A) -> (s) { s(i) +=! A(i,k) }", "N=3,K=20000");
  const auto added = [&](const Term& change) {
    return sums.run([&](const CallPlan& plan) {
      const std::vector<float> a = input<float>(plan, 0);
      std::vector<float> s(3);
      for (std::size_t i = 0; i < a.size(); ++i) s[i / 20000] += change(a[i], 0);
      return output(plan, s);
    });
  };
  const std::vector<Probe> right = added([](float x, float) { return x; });
  REQUIRE(right.size() == 1);
  CHECK(right[0].checks[0].exact == 3);
  CHECK(found_by(right).empty());
  CHECK(found_by(added([](float x, float) { return tensor(x); })).size() == 1);
}

TEST_CASE("float64 that is computed as float32 is found") {
  const Probed probed("def f(double(N) x, double(N) y) -> (z) { z(i) = x(i) - y(i) }", "N=50");
  const auto subtracted = [&](const std::function<double(double)>& change) {
    return probed.run([&](const CallPlan& plan) {
      const std::vector<double> x = input<double>(plan, 0), y = input<double>(plan, 1);
      std::vector<double> z;
      for (std::size_t i = 0; i < x.size(); ++i) z.push_back(change(x[i]) - change(y[i]));
      return output(plan, z);
    });
  };
  CHECK(found_by(subtracted([](double x) { return x; })).empty());
  CHECK(found_by(subtracted([](double x) { return double{static_cast<float>(x)}; })).size() == 2);
}

TEST_CASE("there are no exact sums of quotients, of described inputs, or where limits are stated") {
  const auto count = [](const Probed& probed, verify::CheckLimits limits = {}) {
    int calls = 0;
    probed.run(
        [&](const CallPlan& plan) {
          ++calls;
          return multiplied(plan, times);
        },
        false, limits);
    return calls;
  };
  CHECK(count(product()) == 2);
  CHECK(count(product(), {.rtol = 1e-4, .atol = std::nullopt}) == 0);
  CHECK(count(product(), {std::nullopt, std::nullopt, true}) == 0);
  const std::string sum = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) ";
  CHECK(count(Probed(sum + "/ B(k,n) }", "M=2,N=3,K=4")) == 0);
  CHECK(count(Probed(sum + "* exp(B(k,n)) }", "M=2,N=3,K=4")) == 0);
  CHECK(count(Probed(sum + "* B(k,n) }", "M=2,N=3,K=4", {"A=:uniform(0,1)", "B=:ones"})) == 0);
}

TEST_CASE("a product that is right at the given sizes only is found at others") {
  const std::vector<Probe> probes = product().run(
      [](const CallPlan& plan) {
        Outputs outputs = multiplied(plan, times);
        // Forgets the tail of rows that do not fill vectors of two.
        if (extent(plan, 1, 1) % 2 == 1) std::fill_n(outputs.back().end() - 4, 4, std::uint8_t{0xff});
        return outputs;
      },
      true);
  CHECK(is_found_by(probes, "random numbers M=1,K=1,N=1"));
  CHECK_FALSE(is_found_by(probes, "A: odd"));
  CHECK(found_by(product().run([](const CallPlan& plan) { return multiplied(plan, times); }, true)).empty());
}

TEST_CASE("a product that skips zeros or fails for some kind of number is found by the set of that kind") {
  const auto probes = [](const Term& term) {
    return product().run([&](const CallPlan& plan) { return multiplied(plan, term); }, true);
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto is_subnormal = [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; };
  CHECK(found_by(probes([](float x, float y) { return x == 0 ? 0 : x * y; })) ==
        std::vector<std::string>{"NaN and infinities"});
  CHECK(found_by(probes([&](float x, float y) { return is_subnormal(x) ? kNan : x * y; })) ==
        std::vector<std::string>{"subnormal numbers"});
  CHECK(found_by(probes([](float x, float y) { return std::isfinite(x) && std::fabs(x) > 1e6f ? 0 : x * y; })) ==
        std::vector<std::string>{"numbers of many magnitudes"});
  // A target may flush subnormal numbers to 0.
  CHECK(found_by(probes([&](float x, float y) {
          return (is_subnormal(x) ? 0 : x) * (is_subnormal(y) ? 0 : y);
        })).empty());
}

TEST_CASE("softmax that does not subtract the maximum is found, and one that does is not") {
  const Probed softmax(
      "def f(float(N,D) x) -> (y) {\n  m(i) max=! x(i,k)\n  e(i,j) = exp(x(i,j) - m(i))\n  s(i) +=! e(i,k)\n"
      "  y(i,j) = e(i,j) / s(i)\n}",
      "N=5,D=20");
  const auto probes = [&](bool subtracts) {
    return softmax.run(
        [&](const CallPlan& plan) {
          const std::vector<float> x = input<float>(plan, 0);
          const std::size_t d = extent(plan, 0, 1);
          std::vector<float> y(x.size());
          for (std::size_t row = 0; row < x.size(); row += d) {
            float most = x[row], sum = 0;
            for (std::size_t j = 0; j < d; ++j)
              most = std::isnan(x[row + j]) ? x[row + j] : std::fmax(most, x[row + j]);
            for (std::size_t j = 0; j < d; ++j) {
              y[row + j] = std::exp(x[row + j] - (subtracts ? most : 0));
              sum += y[row + j];
            }
            for (std::size_t j = 0; j < d; ++j) y[row + j] /= sum;
          }
          return output(plan, y);
        },
        true);
  };
  CHECK(is_found_by(probes(false), "large numbers"));
  CHECK(found_by(probes(true)).empty());
}

TEST_CASE("a kernel that fails with a probe's inputs is told of, and not called again") {
  int calls = 0;
  const std::vector<Probe> probes = product().run(
      [&](const CallPlan&) -> Outputs {
        ++calls;
        throw KernelFailed("mm: returned 3");
      },
      true);
  CHECK(calls == 1);
  REQUIRE(probes.size() == 1);
  CHECK(verify::has_failed(probes));
  CHECK(probes[0].mistake() == "with A: odd integers of 12 bits; B: -1, 0, 1: mm: returned 3");
}

TEST_CASE("inputs with which an index leads outside of a tensor are no probe") {
  const Probed gather("def f(float(N) x, float(M) at) -> (y) { y(i) = x(int64(at(i))) where i in 0:M }", "N=1,M=9");
  int failures = 0;
  const auto kernel = [&](const CallPlan& plan) {
    const std::vector<float> x = input<float>(plan, 0), at = input<float>(plan, 1);
    std::vector<float> y;
    for (const float place : at) {
      const bool is_inside = std::isnan(place) || (place > -1 && place < static_cast<float>(x.size()));
      failures += is_inside ? 0 : 1;
      if (!is_inside) throw KernelFailed("outside");
      y.push_back(x[std::isnan(place) ? 0 : static_cast<std::size_t>(place < 0 ? 0 : place)]);
    }
    return output(plan, y);
  };
  CHECK(found_by(gather.run(kernel, true)).empty());
  CHECK(failures > 0);
}

TEST_CASE("the same seed makes the same inputs, another one others") {
  std::vector<std::vector<std::uint8_t>> seen;
  for (const std::uint64_t seed : {1, 1, 2})
    run_probes(product().info, product().plan, product().definitions, {.seed = seed}, [&](const CallPlan& plan) {
      seen.push_back(plan.host_copy(0));
      return multiplied(plan, times);
    });
  REQUIRE(seen.size() == 6);
  CHECK(seen[0] == seen[2]);
  CHECK(seen[0] != seen[4]);
}
