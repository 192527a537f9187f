// Cases for every math function of the language, in float32 and float64, in a loop that is vectorised where the target
// has vectors.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "tests/e2e/programs/program_case.h"

namespace ferry::test {

namespace {

using Index = std::vector<std::int64_t>;
using Arguments = std::vector<Data>;

struct MathFunction {
  const char* name;
  double (*reference)(double);
  double low, high;  // range of the arguments tested
};

// random_data, which is in [-1, 1], is mapped to the range.
const MathFunction kFunctions[] = {
    {"abs", [](double x) { return std::abs(x); }, -9, 9},
    {"exp", [](double x) { return std::exp(x); }, -20, 20},
    {"exp2", [](double x) { return std::exp2(x); }, -20, 20},
    {"log", [](double x) { return std::log(x); }, 0.01, 99},
    {"log2", [](double x) { return std::log2(x); }, 0.01, 99},
    {"log1p", [](double x) { return std::log1p(x); }, -0.9, 9},
    {"expm1", [](double x) { return std::expm1(x); }, -5, 5},
    {"sqrt", [](double x) { return std::sqrt(x); }, 0, 99},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.01, 99},
    {"sin", [](double x) { return std::sin(x); }, -9, 9},
    {"cos", [](double x) { return std::cos(x); }, -9, 9},
    {"tan", [](double x) { return std::tan(x); }, -1.2, 1.2},
    {"tanh", [](double x) { return std::tanh(x); }, -5, 5},
    {"sinh", [](double x) { return std::sinh(x); }, -5, 5},
    {"cosh", [](double x) { return std::cosh(x); }, -5, 5},
    {"asin", [](double x) { return std::asin(x); }, -1, 1},
    {"acos", [](double x) { return std::acos(x); }, -1, 1},
    {"atan", [](double x) { return std::atan(x); }, -9, 9},
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -20, 20},
    {"erf", [](double x) { return std::erf(x); }, -3, 3},
    {"floor", [](double x) { return std::floor(x); }, -9, 9},
    {"ceil", [](double x) { return std::ceil(x); }, -9, 9},
    {"round", [](double x) { return std::round(x); }, -9, 9},
    {"round_even", [](double x) { return std::nearbyint(x); }, -9, 9},
    {"trunc", [](double x) { return std::trunc(x); }, -9, 9},
};

Data in_range(DType dtype, double low, double high, std::uint64_t seed) {
  Data data = random_data(dtype, {83}, seed);
  for (double& value : data.values) {
    value = low + (value + 1) / 2 * (high - low);
    if (dtype == DType::f32) value = static_cast<float>(value);
  }
  return data;
}

// A few units in the last place, relative to the result and to 1: near a root the rounding of the argument dominates.
double tolerance_of(DType dtype) { return dtype == DType::f32 ? 1e-6 : 1e-14; }

void functions_of_one(std::vector<ProgramCase>& cases, DType dtype) {
  const std::string type = dtype == DType::f32 ? "float" : "double";
  for (const MathFunction& function : kFunctions) {
    cases.push_back({std::string(function.name) + " of " + type,
                     "def f(" + type + "(N) A) -> (B) { B(i) = " + function.name + "(A(i)) }",
                     {in_range(dtype, function.low, function.high, 1)},
                     [=](const Arguments& in) -> std::vector<Expected> {
                       return {each(dtype, in[0].shape, [&](const Index& i) {
                         const double value = function.reference(in[0](i[0]));
                         return Element{value, 1 + std::abs(value)};
                       })};
                     },
                     tolerance_of(dtype)});
    cases.back().truncates = std::string_view(function.name) == "trunc";
  }
}

// Values at which rounding to whole numbers changes: halves, their neighbours, and the last numbers with fractions.
Data around_halves(DType dtype) {
  const int digits = dtype == DType::f64 ? 53 : dtype == DType::f32 ? 24 : dtype == DType::f16 ? 11 : 8;
  const double last = std::ldexp(1, digits - 1);  // from here on there are no fractions
  const double step = std::ldexp(1, 1 - digits);
  Data data{dtype, {}, {0, HUGE_VAL, std::numeric_limits<double>::quiet_NaN()}};
  for (const double half : {0.5, 1.5, 2.5, 3.5, 4.5, 62.5, 63.5, last / 4 + 0.5, last / 2 - 0.5, last / 2 + 0.5})
    for (const double moved : {1 - step / 2, 1.0, 1 + step}) data.values.push_back(half * moved);
  for (const double large : {last - 1, last - 0.5, last, last + 1, 2 * last - 1, 2 * last, 2 * last + 2, 16 * last})
    data.values.push_back(large);
  const double least_normal = dtype == DType::f64 ? 0x1p-1022 : dtype == DType::f16 ? 0x1p-14 : 0x1p-126;
  for (const double tiny : {least_normal, least_normal / 2, least_normal * step}) data.values.push_back(tiny);
  const std::vector<double> positive = data.values;
  for (const double value : positive) data.values.push_back(-value);
  data.shape = {static_cast<std::int64_t>(data.values.size())};
  // The values as the type represents them.
  data.values = from_bytes(dtype, to_bytes(data));
  return data;
}

// The second result is infinite, with the sign of the zero, where the first one is 0.
ProgramCase rounding_of(const std::string& type, DType dtype) {
  return {"round_even of special values of " + type,
          "def f(" + type + "(N) A) -> (B, S) { B(i) = round_even(A(i)); S(i) = B(i) == 0 ? 1 / B(i) : 0 }",
          {around_halves(dtype)},
          [=](const Arguments& in) -> std::vector<Expected> {
            // The remainder is exact, and that of a half is the one to the even number.
            const auto whole = [&](const Index& i) { return in[0](i[0]) - std::remainder(in[0](i[0]), 1.0); };
            const auto rounded = [&](const Index& i) {
              return Element{std::isfinite(in[0](i[0])) ? whole(i) : in[0](i[0]), 0};
            };
            const auto sign = [&](const Index& i) {
              return Element{whole(i) == 0 ? std::copysign(HUGE_VAL, in[0](i[0])) : 0, 0};
            };
            return {each(dtype, in[0].shape, rounded), each(dtype, in[0].shape, sign)};
          }};
}

void functions_of_several(std::vector<ProgramCase>& cases, DType dtype) {
  const std::string type = dtype == DType::f32 ? "float" : "double";
  const auto add = [&](const std::string& expression, Data a, Data b, double (*reference)(double, double)) {
    cases.push_back({expression + " of " + type,
                     "def f(" + type + "(N) A, " + type + "(N) B) -> (C) { C(i) = " + expression + " }",
                     {std::move(a), std::move(b)},
                     [=](const Arguments& in) -> std::vector<Expected> {
                       return {each(dtype, in[0].shape, [&](const Index& i) {
                         const double value = reference(in[0](i[0]), in[1](i[0]));
                         return Element{value, 1 + std::abs(value)};
                       })};
                     },
                     tolerance_of(dtype)});
    cases.back().truncates = expression.starts_with("fmod");
  };
  const Data wide = in_range(dtype, -9, 9, 1), other = in_range(dtype, -9, 9, 2), positive = in_range(dtype, 0.1, 9, 3);
  add("atan2(A(i), B(i))", wide, other, [](double a, double b) { return std::atan2(a, b); });
  add("pow(A(i), B(i))", positive, in_range(dtype, -3, 3, 4), [](double a, double b) { return std::pow(a, b); });
  add("fmod(A(i), B(i))", wide, positive, [](double a, double b) { return std::fmod(a, b); });
  add("fma(A(i), B(i), A(i))", wide, other, [](double a, double b) { return a * b + a; });
  add("min(A(i), B(i), 2)", wide, other, [](double a, double b) { return std::min({a, b, 2.0}); });
  add("max(A(i), B(i))", wide, other, [](double a, double b) { return std::max(a, b); });
  add("clamp(A(i), -2, 3) + B(i)", wide, other, [](double a, double b) { return std::clamp(a, -2.0, 3.0) + b; });
  add("select(A(i) < B(i), A(i), 0)", wide, other, [](double a, double b) { return a < b ? a : 0; });
}

void functions_of_integers(std::vector<ProgramCase>& cases) {
  const auto add = [&](const std::string& expression, std::uint32_t (*reference)(std::uint32_t, std::uint32_t)) {
    cases.push_back({expression,
                     "def f(uint32(N) A, uint32(N) B) -> (C) { C(i) = " + expression + " }",
                     {random_data(DType::u32, {83}, 1), random_data(DType::u32, {83}, 2)},
                     [=](const Arguments& in) -> std::vector<Expected> {
                       return {each(DType::u32, in[0].shape, [&](const Index& i) {
                         const auto a = static_cast<std::uint32_t>(in[0](i[0])),
                                    b = static_cast<std::uint32_t>(in[1](i[0]));
                         return Element{static_cast<double>(reference(a, b)), 0};
                       })};
                     }});
  };
  using U = std::uint32_t;
  add("popcount(A(i) * 40503)", [](U a, U) { return static_cast<U>(std::popcount(a * 40503)); });
  add("clz(A(i))", [](U a, U) { return static_cast<U>(std::countl_zero(a)); });
  add("A(i) << B(i)", [](U a, U b) { return a << b; });
  add("(A(i) * 268435455) >> B(i)", [](U a, U b) { return a * 268435455 >> b; });
  add("A(i) & B(i) | ~A(i) ^ 5", [](U a, U b) { return (a & b) | (~a ^ 5); });
}

}  // namespace

std::vector<ProgramCase> rounding_cases() {
  return {rounding_of("float", DType::f32), rounding_of("double", DType::f64), rounding_of("float16", DType::f16),
          rounding_of("bfloat16", DType::bf16)};
}

std::vector<ProgramCase> math_cases() {
  std::vector<ProgramCase> cases = rounding_cases();
  for (const DType dtype : {DType::f32, DType::f64}) {
    functions_of_one(cases, dtype);
    functions_of_several(cases, dtype);
  }
  functions_of_integers(cases);
  return cases;
}

}  // namespace ferry::test
