#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"
#include "ferry/fill.h"
#include "ferry/lang/text.h"
#include "host/lang/reference/float_sum.h"
#include "host/lang/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace ferry;
using namespace ferry::lang;

namespace {

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  fill(FillKind::random, seed, DType::f32, 0, count, values.data());
  return values;
}

template <class T>
std::vector<T> all_of(const Reference& reference, std::size_t parameter) {
  const std::vector<std::byte> bytes = reference.evaluate_all(parameter);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Program one(const std::string& text) { return parse(text, "test.tc").at(0); }

}  // namespace

TEST_CASE("a matrix product is the sum of rounded terms, rounded once, within a bound for every order") {
  const std::size_t m = 7, n = 5, k = 301;
  const std::vector<float> a = random_floats(m * k, 1), b = random_floats(k * n, 2);
  const Program mm = one("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }");
  const Reference reference(mm, {7, 301, 5}, {a.data(), b.data(), nullptr});
  CHECK(reference.shape(2) == std::vector<std::int64_t>{7, 5});
  const std::vector<float> c = all_of<float>(reference, 2);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0, sizes = 0;
      for (std::size_t x = 0; x < k; ++x) {
        const float term = a[i * k + x] * b[x * n + j];
        sum += static_cast<double>(term);
        sizes += std::fabs(static_cast<double>(term));
      }
      CHECK(c[i * n + j] == static_cast<float>(sum));
      const Element element = reference.evaluate(2, i * n + j);
      CHECK(element.error >= sizes * 0x1p-24 * (k - 1));
      CHECK(element.error <= sizes * 0x1p-24 * (k + 2));
    }
  }
}

TEST_CASE("stages in between are computed only where they are needed") {
  // There are 2^40 elements between the input and the output.
  const Program program =
      one("def f(float(N) A, int K) -> (C) { B(i,j) = A(j) * 2 where i in 0:K  C(i) = B(i*1000,i) where i in 0:N }");
  const std::vector<float> a = random_floats(1024, 1);
  const Reference reference(program, {1024, std::int64_t{1} << 30},
                            {a.data(), std::vector<std::int64_t>{std::int64_t{1} << 30}.data(), nullptr});
  CHECK(reference.evaluate(2, 1000).real == static_cast<double>(a[1000] * 2));
}

TEST_CASE("a guarded index is not read where the guard says no") {
  const Program pad =
      one("def pad(float(N) A, int p) -> (B) { B(i) = i >= p && i < N + p ? A(i - p) : 0.5 where i in 0:N+2*p }");
  const std::vector<float> a = random_floats(5, 1);
  const std::int64_t p = 2;
  const Reference reference(pad, {5, 2}, {a.data(), &p, nullptr});
  const std::vector<float> b = all_of<float>(reference, 2);
  REQUIRE(b.size() == 9);
  for (std::size_t i = 0; i < 9; ++i) CHECK(b[i] == (i >= 2 && i < 7 ? a[i - 2] : 0.5f));
}

TEST_CASE("a read outside a tensor is told with its place") {
  const Program gather = one("def gather(float(N) A, int(M) I) -> (B) { B(i) = A(I(i)) }");
  const std::vector<float> a = random_floats(4, 1);
  const std::vector<std::int32_t> index{1, 3, 4};
  const Reference reference(gather, {4, 3}, {a.data(), index.data(), nullptr});
  CHECK(reference.evaluate(2, 1).real == static_cast<double>(a[3]));
  CHECK_THROWS_WITH_AS(reference.evaluate(2, 2), "'B' reads 'A' at [4], outside its shape [4]", CompileError);
}

TEST_CASE("an update starts from what the caller passed in") {
  const Program program = one("def add(float(M,K) A, float(M) C) -> (C) { C(i) += A(i,k) where i in 1:3 }");
  const std::vector<float> a = random_floats(4 * 3, 1);
  const std::vector<float> c{1, 2, 3, 4};
  const Reference reference(program, {4, 3}, {a.data(), c.data()});
  const std::vector<float> out = all_of<float>(reference, 1);
  CHECK(out[0] == 1);
  CHECK(out[1] == ((2 + a[3]) + a[4]) + a[5]);
  CHECK(out[2] == ((3 + a[6]) + a[7]) + a[8]);
  CHECK(out[3] == 4);
}

TEST_CASE("a reduction over nothing is its identity") {
  const Program program = one(
      "def f(float(M,K) A) -> (s, p, l, h) { s(i) +=! A(i,k) p(i) *=! A(i,k) l(i) min=! A(i,k) h(i) max=! A(i,k) }");
  const Reference reference(program, {2, 0}, {nullptr, nullptr, nullptr, nullptr, nullptr});
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(reference.evaluate(1, 1).real == 0);
  CHECK(reference.evaluate(2, 1).real == 1);
  CHECK(reference.evaluate(3, 1).real == kInfinity);
  CHECK(reference.evaluate(4, 1).real == -kInfinity);
}

TEST_CASE("integers wrap, divide downwards and saturate on the way from floats") {
  const Program program =
      one("def f(int8(N) A, int8(N) B, float(N) F) -> (S, Q, R, C, U) {\n"
          "  S(i) = A(i) + B(i)  Q(i) = A(i) / B(i)  R(i) = A(i) % B(i)  C(i) = int8(F(i))  U(i) = uint8(A(i)) }");
  const std::vector<std::int8_t> a{127, -7, 7, -128, 5}, b{1, 2, -2, -1, 0};
  const std::vector<float> f{1e9f, -1e9f, std::nanf(""), -1.9f, 126.6f};
  const Reference reference(program, {5}, {a.data(), b.data(), f.data(), nullptr, nullptr, nullptr, nullptr, nullptr});
  CHECK(all_of<std::int8_t>(reference, 3) == std::vector<std::int8_t>{-128, -5, 5, 127, 5});
  CHECK(all_of<std::int8_t>(reference, 4) == std::vector<std::int8_t>{127, -4, -4, -128, 0});
  CHECK(all_of<std::int8_t>(reference, 5) == std::vector<std::int8_t>{0, 1, -1, 0, 0});
  CHECK(all_of<std::int8_t>(reference, 6) == std::vector<std::int8_t>{127, -128, 0, -1, 126});
  CHECK(all_of<std::uint8_t>(reference, 7) == std::vector<std::uint8_t>{127, 249, 7, 128, 5});
}

TEST_CASE("a sum does not stagnate, and its bound holds for kernels that do") {
  // Sequential float32 summation would add none of the ones to 2^24.
  const Program program = one("def f(float(N) A) -> (s) { s() +=! A(i) }");
  std::vector<float> a(1001, 1.0f);
  a[0] = 0x1p24f;
  const Reference reference(program, {1001}, {a.data(), nullptr});
  const Element sum = reference.evaluate(1, 0);
  CHECK(sum.real == 0x1p24 + 1000);
  CHECK(sum.error >= 1000);
}

TEST_CASE("twenty million ones are twenty million, and terms that cancel leave what is left") {
  FloatSum ones(DType::f32, RoundingBound::worst_case), rest(DType::f64, RoundingBound::worst_case);
  for (int i = 0; i < 20'000'000; ++i) ones.add(1, 0);
  CHECK(ones.result(DType::f32).real == 20'000'000);
  for (const double term : {1e16, 1.0, -1e16, 3.0}) rest.add(term, 0);
  CHECK(rest.result(DType::f64).real == 4);
}

TEST_CASE("errors that are independent of each other come to their square root, others to their sum") {
  const auto bound = [](RoundingBound kind, int terms, double error) {
    FloatSum sum(DType::f32, kind);
    for (int i = 0; i < terms; ++i) sum.add(i % 2 == 0 ? 1 : -1, error);
    return sum.result(DType::f32).error;
  };
  CHECK(bound(RoundingBound::worst_case, 1024, 0) == doctest::Approx(1023 * 0x1p-24 * 1024));
  CHECK(bound(RoundingBound::square_root, 1024, 0) == doctest::Approx(std::sqrt(1023) * 0x1p-24 * 32));
  // The error of a product adds little, that of a function may be the same for all terms.
  CHECK(bound(RoundingBound::square_root, 1024, 0x1p-24) ==
        doctest::Approx((std::sqrt(1023) * 32 + std::sqrt(1024)) * 0x1p-24));
  CHECK(bound(RoundingBound::square_root, 1024, 0x1p-21) ==
        doctest::Approx((std::sqrt(1023) * 32 + 8 * 1024) * 0x1p-24));
  // Small terms are lost in sums of very many.
  CHECK(bound(RoundingBound::square_root, 1 << 20, 0) == bound(RoundingBound::worst_case, 1 << 20, 0));
}

TEST_CASE("a sum has no error where no order of its additions rounds, and that of the worst case otherwise") {
  const auto error_of = [](const std::vector<double>& terms, double error, DType type = DType::f32) {
    FloatSum sum(DType::f32, RoundingBound::exact);
    for (const double term : terms) sum.add(term, error);
    return sum.result(type).error;
  };
  std::vector<double> integers(4096, 4095.0);
  CHECK(error_of(integers, 0) == 0);
  CHECK(error_of({0x1p-40, -0x3p-40, 0, 0x1p-17}, 0) == 0);
  integers.insert(integers.end(), {4097, 1});
  CHECK(error_of(integers, 0) > 0);
  // The sum is 1, but 2^24 + 1 may be one of the partial ones.
  CHECK(error_of({0x1p24, 1, -0x1p24}, 0) > 0);
  CHECK(error_of({1, 2}, 0x1p-24) > 0);
  CHECK(error_of({HUGE_VAL, 1, 1e38}, 0) == 0);
  CHECK(error_of({2048, 1}, 0, DType::f16) > 0);
  CHECK(error_of({2047, 1}, 0, DType::f16) == 0);
}

TEST_CASE("operations that are exact have no error, quotients and what overflows have one") {
  const auto error_of = [](const std::string& expression, float x, float y) {
    const Program program = one("def f(float(N) A, float(N) B) -> (C) { C(i) = " + expression + " }");
    return Reference(program, {1}, {&x, &y, nullptr}, RoundingBound::exact).evaluate(2, 0).error;
  };
  CHECK(error_of("A(i) * B(i)", 4095, 4093) == 0);
  CHECK(error_of("A(i) * B(i)", 4097, 4097) > 0);
  CHECK(error_of("A(i) + B(i)", 0x1p24f, 2) == 0);
  CHECK(error_of("A(i) - B(i)", 0x1p24f, -1) > 0);
  CHECK(error_of("max(A(i), B(i)) * B(i)", 3, 5) == 0);
  CHECK(error_of("A(i) / B(i)", 8, 2) > 0);
  CHECK(std::isinf(error_of("A(i) * B(i)", 1e30f, 1e30f)));
  CHECK(error_of("A(i) * B(i)", HUGE_VALF, 0) == 0);
  // Whether the product overflows, and its difference is NaN, depends on the order.
  CHECK(std::isinf(error_of("max(A(i) * B(i) - B(i) * A(i), B(i))", 1e30f, 1e30f)));
  CHECK(error_of("A(i) * B(i)", 1e-30f, 1e-10f) > 0);
  // A target may flush subnormal numbers, so that the product is 0.
  CHECK(error_of("A(i) * B(i)", 0x1p-127f, 0x1p100f) >= 0x1p-27);
}

TEST_CASE("of a sum that may leave its type's range on its way nothing is known, of an infinite one everything") {
  const Program program = one("def f(float(N) A) -> (s) { s() +=! A(i) }");
  std::vector<float> a = {3e38f, 3e38f, -3e38f};
  CHECK(std::isinf(Reference(program, {3}, {a.data(), nullptr}).evaluate(1, 0).error));
  a[2] = INFINITY;
  CHECK(std::isinf(Reference(program, {3}, {a.data(), nullptr}).evaluate(1, 0).real));
}

TEST_CASE("the infinity of a mask has no error, that of an overflow an infinite one") {
  const auto result = [](const std::string& value, float a, float b) {
    const Program program = one("def f(float(N) A, float(N) B) -> (Y) { Y(i) = " + value + " }");
    return Reference(program, {1}, {&a, &b, nullptr}).evaluate(2, 0);
  };
  for (const char* value :
       {"exp(A(i) - B(i) * B(i))", "exp(A(i) * (B(i) * B(i)))", "exp((B(i) * B(i) + A(i)) / (B(i) * B(i)))"}) {
    const lang::Element masked = result(value, -INFINITY, 1.1f);
    CHECK(masked.real == 0);
    CHECK(masked.error < 1e-30);
  }
  CHECK(std::isinf(result("B(i) - A(i) * A(i)", 1e30f, 1.1f).error));
  CHECK_FALSE(result("A(i) * (B(i) * B(i) - B(i) * B(i))", INFINITY, 1.1f).error == 0);
}

TEST_CASE("nothing is known of a product that leaves its type's range in some order of its factors") {
  const Program program = one("def f(half(N) A) -> (p) { p() *=! A(i) }");
  const auto product_of = [&](const std::vector<float>& factors) {
    std::vector<std::uint16_t> a;
    for (const float factor : factors) a.push_back(f32_to_f16(factor));
    return Reference(program, {static_cast<std::int64_t>(a.size())}, {a.data(), nullptr}).evaluate(1, 0);
  };
  // 0 * 300 * 300 is 0, but 300 * 300 is infinite, and an infinity times 0 is no number.
  CHECK(std::isinf(product_of({0, 300, 300}).error));
  CHECK(std::isinf(product_of({1.0f / 64, 2048, 2048}).error));
  CHECK(product_of({0, 128, 128}).real == 0);
  CHECK(product_of({0, 128, 128}).error == 0);
}

TEST_CASE("the bound of a product holds in every order of its factors") {
  const Program program = one("def f(half(N) A) -> (p) { p() *=! A(i) }");
  std::vector<std::uint16_t> a;
  // Partial products are subnormal in one order and round; in another they are not.
  for (const float factor : {1.0f / 512, 3.0f / 2048, 5.0f / 64, 7.0f, 96.0f, 1.5f}) a.push_back(f32_to_f16(factor));
  const Element product = Reference(program, {6}, {a.data(), nullptr}).evaluate(1, 0);
  CHECK(product.error < product.real);
  std::sort(a.begin(), a.end());
  do {
    double in_order = 1;
    for (const std::uint16_t factor : a)
      in_order = static_cast<double>(f16_to_f32(f32_to_f16(static_cast<float>(in_order) * f16_to_f32(factor))));
    CHECK(std::fabs(in_order - product.real) <= product.error);
  } while (std::next_permutation(a.begin(), a.end()));
}

TEST_CASE("narrow floats round after every operation, and add up in float32") {
  const Program program = one("def f(half(N) A) -> (s, t) { s() +=! A(i)  t(i) = A(i) * A(i) + 1h }");
  std::vector<std::uint16_t> a(3000, f32_to_f16(1.0f));
  const Reference reference(program, {3000}, {a.data(), nullptr, nullptr});
  CHECK(reference.evaluate(1, 0).real == 3000);
  CHECK(reference.evaluate(1, 0).error < 3000 * 0x1p-11 * 1.5);
  CHECK(reference.evaluate(2, 0).real == 2);
}

TEST_CASE("errors are carried through what is done with a value") {
  const Program program = one("def f(float(N) A) -> (B) { s() +=! A(i)  B(i) = exp((A(i) - s()) / 100) }");
  std::vector<float> a(1000, 1.0f / 3);
  a[0] = 333;
  const Reference reference(program, {1000}, {a.data(), nullptr});
  const Element element = reference.evaluate(1, 0);
  // The terms sum to 666 in 999 additions, each off by up to half an ulp, and the argument is scaled by 1/100.
  CHECK(element.error > element.real * 6.6 * 999 * 0x1p-24);
  CHECK(element.error < element.real * 6.6 * 999 * 0x1p-24 * 2);
}
