// Cases for every operator on every type, and for conversions between all pairs of types, checked against plain C++ in
// wider types.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/e2e/programs/program_case.h"

namespace ferry::test {

namespace {

using Index = std::vector<std::int64_t>;
using Arguments = std::vector<Data>;
using Wide = __int128;

constexpr DType kIntegers[] = {DType::i8, DType::i16, DType::i32, DType::i64,
                               DType::u8, DType::u16, DType::u32, DType::u64};
constexpr DType kFloats[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

int bits_of(DType type) { return static_cast<int>(dtype_bytes(type)) * 8; }

// Returns the number of the type with the same low bits.
Wide wrapped(DType type, Wide value) {
  const Wide range = Wide{1} << bits_of(type);
  value = ((value % range) + range) % range;
  return is_signed_int(type) && value >= range / 2 ? value - range : value;
}

// Returns the value rounded once to the type.
double rounded(DType type, double value) {
  Data one = empty_data(type, {1});
  one.values[0] = value;
  return from_bytes(type, to_bytes(one))[0];
}

// Small numbers, the ends of the range and halves of them; every value of `b` is combined with several of `a`.
Data numbers(DType type, std::size_t count, std::size_t step) {
  std::vector<double> some{0, 1, 2, 3, 5, 7, 31, 63, 100};
  if (is_float(type)) {
    some.insert(some.end(), {-0.5, 0.25, 1.5, -3.25, 65504, -65504});
  } else {
    const int width = std::min(bits_of(type), 53);  // the integers that a double represents
    const double top = std::ldexp(1.0, is_signed_int(type) ? width - 1 : width) - 1;
    some.insert(some.end(), {top, top - 1, std::floor(top / 2), std::floor(top / 3)});
    if (is_signed_int(type)) some.insert(some.end(), {-1, -2, -5, -7, -100, -top, -top - 1});
  }
  Data data = empty_data(type, {static_cast<std::int64_t>(count)});
  for (std::size_t i = 0; i < count; ++i) data.values[i] = rounded(type, some[i * step / 3 % some.size()]);
  return data;
}

constexpr std::int64_t kCount = 331;

Expected each_pair(DType type, const Arguments& in, const std::function<double(double, double)>& of) {
  return each(type, {kCount}, [&](const Index& i) { return Element{of(in[0](i[0]), in[1](i[0])), 0}; });
}

Wide floor_divide(Wide a, Wide b) {
  if (b == 0) return 0;
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Wide shift(DType type, Wide a, Wide by, bool left) {
  const bool outside = by < 0 || by >= bits_of(type);
  if (left) return outside ? 0 : wrapped(type, a * (Wide{1} << static_cast<int>(by)));
  return outside ? (a < 0 ? -1 : 0) : a >> static_cast<int>(by);
}

ProgramCase integer_operators(DType type) {
  const std::string name = dtype_name(type);
  return {"operators of " + name,
          "def f(" + name + "(N) A, " + name +
              "(N) B) -> (P, S, M, D, R, L, H, X, Y, Z, U, V, N1, I) {\n"
              "P(i) = A(i) + B(i)  S(i) = A(i) - B(i)  M(i) = A(i) * B(i)  D(i) = A(i) / B(i)  R(i) = A(i) % B(i)\n"
              "L(i) = min(A(i), B(i))  H(i) = max(A(i), B(i))\n"
              "X(i) = A(i) & B(i)  Y(i) = A(i) | B(i)  Z(i) = A(i) ^ B(i)  U(i) = A(i) << B(i)  V(i) = A(i) >> B(i)\n"
              "N1(i) = -A(i)  I(i) = ~A(i) }",
          {numbers(type, kCount, 3), numbers(type, kCount, 1)},
          [type](const Arguments& in) {
            const auto all = [&](const std::function<Wide(Wide, Wide)>& of) {
              return each_pair(type, in, [&](double a, double b) {
                return static_cast<double>(wrapped(type, of(static_cast<Wide>(a), static_cast<Wide>(b))));
              });
            };
            return std::vector<Expected>{
                all([](Wide a, Wide b) { return a + b; }),
                all([](Wide a, Wide b) { return a - b; }),
                all([](Wide a, Wide b) { return a * b; }),
                all([](Wide a, Wide b) { return floor_divide(a, b); }),
                all([](Wide a, Wide b) { return b == 0 ? 0 : a - floor_divide(a, b) * b; }),
                all([](Wide a, Wide b) { return std::min(a, b); }),
                all([](Wide a, Wide b) { return std::max(a, b); }),
                all([](Wide a, Wide b) { return a & b; }),
                all([](Wide a, Wide b) { return a | b; }),
                all([](Wide a, Wide b) { return a ^ b; }),
                all([type](Wide a, Wide b) { return shift(type, a, b, true); }),
                all([type](Wide a, Wide b) { return shift(type, a, b, false); }),
                all([](Wide a, Wide) { return -a; }),
                all([](Wide a, Wide) { return -a - 1; }),
            };
          }};
}

ProgramCase float_operators(DType type) {
  const std::string name = dtype_name(type);
  return {"operators of " + name,
          "def f(" + name + "(N) A, " + name +
              "(N) B) -> (P, S, M, D, L, H, N1) {\n"
              "P(i) = A(i) + B(i)  S(i) = A(i) - B(i)  M(i) = A(i) * B(i)  D(i) = A(i) / (B(i) + 0.5)\n"
              "L(i) = min(A(i), B(i))  H(i) = max(A(i), B(i))  N1(i) = -A(i) }",
          {numbers(type, kCount, 3), numbers(type, kCount, 1)},
          [type](const Arguments& in) {
            const auto all = [&](const std::function<double(double, double)>& of) {
              return each_pair(type, in, [&](double a, double b) { return rounded(type, of(a, b)); });
            };
            return std::vector<Expected>{
                all([](double a, double b) { return a + b; }),
                all([](double a, double b) { return a - b; }),
                all([](double a, double b) { return a * b; }),
                all([type](double a, double b) { return a / rounded(type, b + 0.5); }),
                all([](double a, double b) { return std::min(a, b); }),
                all([](double a, double b) { return std::max(a, b); }),
                all([](double a, double) { return -a; }),
            };
          }};
}

ProgramCase comparisons(DType type) {
  const std::string name = dtype_name(type);
  return {"comparisons of " + name,
          "def f(" + name + "(N) A, " + name +
              "(N) B) -> (E, U, L, M, G, H, C) {\n"
              "E(i) = A(i) == B(i)  U(i) = A(i) != B(i)  L(i) = A(i) < B(i)  M(i) = A(i) <= B(i)  G(i) = A(i) > B(i)\n"
              "H(i) = A(i) >= B(i)  C(i) = A(i) > B(i) && !(B(i) == 0) || A(i) == 1 ? A(i) : B(i) }",
          {numbers(type, kCount, 3), numbers(type, kCount, 1)},
          [type](const Arguments& in) {
            const auto all = [&](const std::function<bool(double, double)>& of) {
              return each_pair(DType::boolean, in, [&](double a, double b) { return of(a, b) ? 1 : 0; });
            };
            return std::vector<Expected>{
                all([](double a, double b) { return a == b; }),
                all([](double a, double b) { return a != b; }),
                all([](double a, double b) { return a < b; }),
                all([](double a, double b) { return a <= b; }),
                all([](double a, double b) { return a > b; }),
                all([](double a, double b) { return a >= b; }),
                each_pair(type, in, [](double a, double b) { return (a > b && b != 0) || a == 1 ? a : b; }),
            };
          }};
}

double converted(DType from, DType to, double value) {
  if (to == DType::boolean) return value != 0 ? 1 : 0;
  if (is_float(to)) return rounded(to, value);
  if (!is_float(from)) return static_cast<double>(wrapped(to, static_cast<Wide>(value)));
  if (std::isnan(value)) return 0;
  const Wide half = Wide{1} << (bits_of(to) - 1);
  const Wide least = is_signed_int(to) ? -half : 0, most = is_signed_int(to) ? half - 1 : 2 * half - 1;
  if (value <= static_cast<double>(least)) return static_cast<double>(least);
  if (value >= static_cast<double>(most)) return static_cast<double>(most);
  return std::trunc(value);
}

// Conversions from one type to all types.
ProgramCase conversions(DType from) {
  constexpr DType kAll[] = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i8,  DType::i16,    DType::i32,
                            DType::i64, DType::u8,   DType::u16, DType::u32, DType::u64, DType::boolean};
  const std::string name = dtype_name(from);
  std::string outputs, body;
  for (const DType to : kAll) {
    const std::string one = std::string("to_") + dtype_name(to);
    outputs += (outputs.empty() ? "" : ", ") + one;
    body += "  " + one + "(i) = " + dtype_name(to) + "(A(i))\n";
  }
  ProgramCase result{"conversions of " + name,
                     "def f(" + name + "(N) A) -> (" + outputs + ") {\n" + body + "}",
                     {from == DType::boolean ? random_data(from, {kCount}, 150) : numbers(from, kCount, 3)},
                     [from, all = std::vector<DType>(std::begin(kAll), std::end(kAll))](const Arguments& in) {
                       std::vector<Expected> expected;
                       for (const DType to : all) {
                         expected.push_back(each(to, {kCount}, [&](const Index& i) {
                           return Element{converted(from, to, in[0](i[0])), 0};
                         }));
                       }
                       return expected;
                     }};
  result.truncates = is_float(from);
  return result;
}

}  // namespace

std::vector<ProgramCase> type_cases() {
  std::vector<ProgramCase> cases;
  for (const DType type : kIntegers) cases.push_back(integer_operators(type));
  for (const DType type : kFloats) cases.push_back(float_operators(type));
  for (const DType type : kIntegers) cases.push_back(comparisons(type));
  for (const DType type : kFloats) cases.push_back(comparisons(type));
  for (const DType type : kIntegers) cases.push_back(conversions(type));
  for (const DType type : kFloats) cases.push_back(conversions(type));
  cases.push_back(conversions(DType::boolean));
  return cases;
}

}  // namespace ferry::test
