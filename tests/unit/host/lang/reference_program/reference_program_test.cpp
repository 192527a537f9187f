#include <doctest/doctest.h>

#include "ferry/error.h"
#include "ferry/lang/program.h"
#include "ferry/lang/text.h"
#include "host/lang/reference/reference_program.h"
#include "module/float_element.h"
#include "tests/fuzz/cases/generate_program.h"
#include "tests/unit/host/autoschedule/rule_cases.h"
#include "tests/unit/host/lang/reference_program/same_elements.h"

#include <cmath>
#include <limits>
#include <regex>
#include <set>

using namespace ferry;
using namespace ferry::test;
using lang::RoundingBound;

namespace {

constexpr RoundingBound kBounds[] = {RoundingBound::worst_case, RoundingBound::square_root};

struct Kernel {
  std::string name;
  const char* source;
  Sizes sizes;
};

const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> all = {
      {"product",
       "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       {{"M", 37}, {"K", 301}, {"N", 23}}},
      {"product of half",
       "def f(half(M,K) A, half(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       {{"M", 7}, {"K", 65}, {"N", 19}}},
      {"product of bfloat16",
       "def f(bfloat16(M,K) A, bfloat16(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       {{"M", 7}, {"K", 65}, {"N", 19}}},
      {"product of integers in float",
       "def f(int8(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! float(A(m,k)) * B(k,n) }",
       {{"M", 5}, {"K", 33}, {"N", 17}}},
      {"sum with a start",
       "def f(float(M,K) A, float(M) C) -> (C) { C(m) += A(m,k) * A(m,k) }",
       {{"M", 13}, {"K", 67}}},
      {"one term", "def f(float(M,1) A) -> (S) { S(m) +=! A(m,k) }", {{"M", 13}}},
      {"no terms", "def f(float(M,K) A) -> (S) { S(m) +=! A(m,k) }", {{"M", 5}, {"K", 0}}},
      {"convolution with a guard",
       "def f(float(C,H,W) I, float(O,C,3,3) K) -> (Y) {\n"
       "  Y(o,h,w) +=! (h + kh >= 1 && h + kh <= H && w + kw >= 1 && w + kw <= W ? I(c,h+kh-1,w+kw-1) * K(o,c,kh,kw) : "
       "0)"
       " where h in 0:H, w in 0:W\n}",
       {{"C", 3}, {"H", 9}, {"W", 7}, {"O", 5}}},
      {"convolution with a border",
       "def f(float(C,H,W) I, float(O,C,3,3) K) -> (Y) {\n"
       "  P(c,h,w) = h >= 1 && h <= H && w >= 1 && w <= W ? I(c,h-1,w-1) : 0 where h in 0:H+2, w in 0:W+2\n"
       "  Y(o,h,w) +=! P(c,h+kh,w+kw) * K(o,c,kh,kw) where h in 0:H, w in 0:W\n}",
       {{"C", 3}, {"H", 9}, {"W", 7}, {"O", 5}}},
      {"layer norm",
       "def f(float(M,N) X, float(N) G, float(N) B) -> (Y) {\n  S(m) +=! X(m,n)\n"
       "  Q(m) +=! (X(m,n) - S(m) / N) * (X(m,n) - S(m) / N)\n"
       "  Y(m,n) = (X(m,n) - S(m) / N) / sqrt(Q(m) / N + 0.00001) * G(n) + B(n)\n}",
       {{"M", 5}, {"N", 131}}},
      {"softmax and a product",
       "def f(float(M,N) X, float(N,K) V) -> (Y) {\n  T(m) max=! X(m,n)\n  E(m,n) = exp(X(m,n) - T(m))\n  S(m) +=! "
       "E(m,n)\n"
       "  P(m,n) = E(m,n) / S(m)\n  Y(m,k) +=! P(m,n) * V(n,k)\n}",
       {{"M", 5}, {"N", 67}, {"K", 9}}},
      {"functions",
       "def f(float(N) X) -> (A, B, C, D) {\n  A(i) = tanh(X(i)) + sigmoid(X(i) * 3)\n  B(i) = sqrt(abs(X(i))) * "
       "erf(X(i))\n"
       "  C(i) = pow(abs(X(i)) + 0.5, X(i)) - log(X(i))\n  D(i) = floor(X(i) * 7) + round(X(i) * 5)\n}",
       {{"N", 301}}},
      {"functions of half",
       "def f(half(N) X) -> (Y) { Y(i) = exp(X(i)) * half(2.5) - cos(X(i)) / X(i) }",
       {{"N", 301}}},
      {"float64 without sums",
       "def f(double(N) X, float(N) Y) -> (Z) { Z(i) = X(i) * X(i) / 3 + double(Y(i)) }",
       {{"N", 67}}},
      {"conversions",
       "def f(float(N) X, int(N) I) -> (A, B, C, D, E) {\n  A(i) = int8(X(i) * 300)\n  B(i) = uint8(X(i) * 1000.5)\n"
       "  C(i) = half(X(i) * 100000.0)\n  D(i) = bfloat16(float(I(i)))\n  E(i) = int64(X(i) * 1e20)\n}",
       {{"N", 301}}},
      {"choices by rounded numbers",
       "def f(float(N) X, float(N) Y) -> (Z) { Z(i) = X(i) * Y(i) < 0.25 ? X(i) + Y(i) : max(X(i) * 2, Y(i) - 1) }",
       {{"N", 301}}},
      {"gather", "def f(uint8(N) I, float(256,K) T) -> (Y) { Y(n,k) = T(I(n),k) * 3 }", {{"N", 31}, {"K", 5}}},
      {"integers",
       "def f(int(N,K) A, int(K) B) -> (S, M) {\n  S(n) +=! A(n,k) * B(k)\n  M(n) max=! A(n,k) + B(k)\n}",
       {{"N", 31}, {"K", 17}}},
      {"sum of functions", "def f(float(N,K) A) -> (S) { S(n) +=! exp(A(n,k)) * A(n,k) }", {{"N", 7}, {"K", 301}}},
  };
  return all;
}

// Every seventh element is one that is not finite, no number, a zero of either sign, large or tiny.
void add_special_numbers(DType type, std::size_t elements, std::uint8_t* data) {
  if (!is_float(type)) return;
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const double special[] = {-0.0, nan, infinity, -infinity, 0.0, 3e38, -1e-42, 65504, 1e-8, 0.5};
  for (std::size_t i = 0; i < elements; i += 7)
    store_float(type, special[i / 7 % std::size(special)], data + i * dtype_bytes(type));
}

lang::Program program_of(const std::string& source) { return lang::parse(source, "test.tc").at(0); }

}  // namespace

TEST_CASE("the compiled definition of every kernel has the evaluator's values, and errors that are no larger") {
  for (const Kernel& kernel : kernels()) {
    for (const RoundingBound bound : kBounds) {
      CAPTURE(kernel.name);
      CAPTURE(static_cast<int>(bound));
      const Compared compared = compare_with_evaluator(program_of(kernel.source), kernel.sizes, bound);
      CHECK(compared.refusal == "");
      CHECK(compared.difference == "");
      CHECK(compared.elements > 0);
      // A sum's largest partial sum is not known, and taken to be smaller.
      CHECK(compared.least >= (bound == RoundingBound::square_root ? 0.4 : 0.999999));
    }
  }
}

TEST_CASE("numbers that are not finite, zeros and tiny numbers go the same way as in the evaluator") {
  for (const Kernel& kernel : kernels()) {
    CAPTURE(kernel.name);
    const Compared compared = compare_with_evaluator(program_of(kernel.source), kernel.sizes,
                                                     RoundingBound::square_root, add_special_numbers);
    CHECK(compared.difference == "");
  }
}

TEST_CASE("a sum over the points for which a condition holds") {
  const lang::Expr n = lang::var("N");
  const lang::Tensor a = lang::placeholder({n}, DType::f32, "A"), b = lang::placeholder({n}, DType::f32, "B");
  const lang::ReduceAxis k = lang::reduce_axis(n, "k");
  const lang::Tensor s = lang::compute(
      {n}, [&](auto& i) { return lang::reduce(ir::ReduceOp::sum, a(k) - b(k), {k}, lang::Expr(k) >= i[0]); }, "S");
  const lang::Program program = lang::make_program("f", {lang::in(a), lang::in(b), lang::out(s)});
  for (const RoundingBound bound : kBounds) {
    const Compared compared = compare_with_evaluator(program, {{"N", 67}}, bound);
    CHECK(compared.refusal == "");
    CHECK(compared.difference == "");
    CHECK(compared.elements == 67);
  }
}

TEST_CASE("the programs that schedules are made for, in floats") {
  std::size_t compiled = 0;
  std::set<std::string> sources;
  for (const RuleCase& rule : rule_cases()) {
    const std::string source = std::regex_replace(rule.source, std::regex("\\bint\\("), "float(");
    if (source == rule.source || !sources.insert(source).second) continue;
    lang::Program program;
    try {
      program = program_of(source);
    } catch (const Error&) {
      continue;  // it needs integers
    }
    CAPTURE(rule.name);
    const Compared compared = compare_with_evaluator(program, rule.sizes.front(), RoundingBound::square_root);
    CHECK(compared.difference == "");
    if (compared.refusal.empty()) ++compiled;
  }
  CHECK(compiled > 15);
}

TEST_CASE("random programs") {
  std::size_t compiled = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    fuzz::Random random(seed);
    const fuzz::FuzzCase made = fuzz::generate_program(random);
    if (made.may_leave) continue;
    const std::string source = source_of(made);
    CAPTURE(source);
    Compared compared;
    try {
      compared = compare_with_evaluator(program_of(source), made.sizes, kBounds[seed % 2], {}, seed);
    } catch (const Error& error) {
      MESSAGE(error.what());
      continue;
    }
    CHECK(compared.difference == "");
    if (compared.refusal.empty()) ++compiled;
  }
  MESSAGE(compiled << " of 40 programs");
  CHECK(compiled > 15);
}

TEST_CASE("what cannot be said as a program of float64 is refused with a reason") {
  const auto refusal = [](const char* source) {
    return compare_with_evaluator(program_of(source), {{"N", 5}}, RoundingBound::worst_case).refusal;
  };
  CHECK(refusal("def f(double(N) A) -> (S) { S +=! A(i) }") == "it adds up float64");
  CHECK(refusal("def f(float(N) A) -> (P) { P *=! A(i) }") == "it multiplies many floats");
  CHECK(refusal("def f(float(N) A) -> (V, I) { V, I argmax=! A(i) }") != "");
  CHECK(refusal("def f(float(N) X) -> (S) { S(n) = X(n) + (n >= 1 ? S(n-1) : 0) along n }") ==
        "it computes elements in order");
}
