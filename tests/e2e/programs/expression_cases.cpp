#include <algorithm>
#include <cmath>

#include "tests/e2e/programs/program_case.h"

namespace ferry::test {

namespace {

using Index = std::vector<std::int64_t>;
using Arguments = std::vector<Data>;

std::vector<Expected> one(Expected expected) { return {std::move(expected)}; }

void vector_add(std::vector<ProgramCase>& cases) {
#define FERRY_CASE(tag, type, text, bytes, storage) {DType::type, text},
  const std::pair<DType, const char*> types[] = {FERRY_DTYPES(FERRY_CASE)};
#undef FERRY_CASE
  std::uint64_t seed = 1;
  for (const auto& [dtype, name] : types) {
    const DType type = dtype;
    if (type == DType::boolean) continue;
    for (const std::int64_t n : {1, 67, 1000}) {
      const std::string t = name;
      cases.push_back(
          {"vector add of " + std::to_string(n) + " " + t,
           "def add(" + t + "(N) A, " + t + "(N) B) -> (C) { C(i) = A(i) + B(i) }",
           {random_data(type, {n}, ++seed), random_data(type, {n}, ++seed)},
           [type](const Arguments& in) {
             return one(each(type, in[0].shape, [&](const Index& i) { return Element{in[0](i[0]) + in[1](i[0]), 1}; }));
           },
           is_float(type) ? 1e-12 : 0});
    }
  }
  cases.push_back({"logical or of booleans",
                   "def either(bool(N) A, bool(N) B) -> (C) { C(i) = A(i) || B(i) }",
                   {random_data(DType::boolean, {67}, 1), random_data(DType::boolean, {67}, 2)},
                   [](const Arguments& in) {
                     return one(each(DType::boolean, in[0].shape,
                                     [&](const Index& i) { return Element{std::max(in[0](i[0]), in[1](i[0])), 1}; }));
                   }});
}

void casts(std::vector<ProgramCase>& cases) {
  cases.push_back({"a cast inside an expression",
                   "def scale(int8(N) A, float32(N) B) -> (C) { C(i) = float32(A(i)) * B(i) + 0.5 }",
                   {random_data(DType::i8, {83}, 3), random_data(DType::f32, {83}, 4)},
                   [](const Arguments& in) {
                     return one(each(DType::f32, in[0].shape,
                                     [&](const Index& i) { return Element{in[0](i[0]) * in[1](i[0]) + 0.5, 1}; }));
                   },
                   1e-6});
  cases.push_back({"floats truncate towards zero when cast to integers",
                   "def whole(float32(N) A) -> (B) { B(i) = int32(A(i) * 100.0) }",
                   {random_data(DType::f32, {67}, 5)},
                   [](const Arguments& in) {
                     return one(each(DType::i32, in[0].shape,
                                     [&](const Index& i) { return Element{std::trunc(in[0](i[0]) * 100), 1}; }));
                   }});
}

void shapes(std::vector<ProgramCase>& cases) {
  cases.push_back({"2-d transpose",
                   "def transpose(float32(N,M) A) -> (B) { B(i,j) = A(j,i) }",
                   {random_data(DType::f32, {13, 37}, 6)},
                   [](const Arguments& in) {
                     return one(
                         each(DType::f32, {37, 13}, [&](const Index& i) { return Element{in[0](i[1], i[0]), 1}; }));
                   }});
  cases.push_back({"elementwise over four dimensions",
                   "def add4(float32(N,C,H,W) A, float32(N,C,H,W) B) -> (S) { S(n,c,h,w) = A(n,c,h,w) + B(n,c,h,w) }",
                   {random_data(DType::f32, {2, 3, 5, 7}, 7), random_data(DType::f32, {2, 3, 5, 7}, 8)},
                   [](const Arguments& in) {
                     return one(each(DType::f32, in[0].shape, [&](const Index& i) {
                       return Element{in[0](i[0], i[1], i[2], i[3]) + in[1](i[0], i[1], i[2], i[3]), 1};
                     }));
                   },
                   1e-7});
  cases.push_back({"2-d to 1-d",
                   "def flat(float32(N,M) A) -> (B) { B(i) = A(i / M, i % M) where i in 0:N*M }",
                   {random_data(DType::f32, {5, 17}, 9)},
                   [](const Arguments& in) {
                     return one(each(DType::f32, {85}, [&](const Index& i) { return Element{in[0](i[0]), 1}; }));
                   }});
  cases.push_back(
      {"general reshape",
       "def reshape(float32(N,M) A, int64 p, int64 q) -> (B) { B(i,j) = A((i*q + j) / M, (i*q + j) % M) where i in "
       "0:p, j in "
       "0:q }",
       {random_data(DType::f32, {6, 35}, 10), scalar_data(DType::i64, 10), scalar_data(DType::i64, 21)},
       [](const Arguments& in) {
         return one(each(DType::f32, {10, 21}, [&](const Index& i) { return Element{in[0](i[0] * 21 + i[1]), 1}; }));
       }});
  cases.push_back({"strided slice with begin and step given at run time",
                   "def slice(float32(N) A, int64 b, int64 s) -> (B) { B(i) = A(b + i*s) where i in 0:(N - b)/s }",
                   {random_data(DType::f32, {101}, 11), scalar_data(DType::i64, 5), scalar_data(DType::i64, 3)},
                   [](const Arguments& in) {
                     return one(
                         each(DType::f32, {32}, [&](const Index& i) { return Element{in[0](5 + i[0] * 3), 1}; }));
                   }});
  cases.push_back({"lower triangle",
                   "def tril(float32(N,M) A) -> (B) { B(i,j) = i >= j ? A(i,j) : 0 where i in 0:N, j in 0:M }",
                   {random_data(DType::f32, {19, 23}, 12)},
                   [](const Arguments& in) {
                     return one(each(DType::f32, {19, 23},
                                     [&](const Index& i) { return Element{i[0] >= i[1] ? in[0](i[0], i[1]) : 0, 1}; }));
                   }});
  cases.push_back(
      {"zero padding with a condition that guards the index",
       "def pad(float32(N,M) A) -> (B) { B(i,j) = i < 2 || i >= N + 2 || j < 2 || j >= M + 2 ? 0 : A(i - 2, j - 2) "
       "where i in 0:N+4, j in 0:M+4 }",
       {random_data(DType::f32, {7, 21}, 13)},
       [](const Arguments& in) {
         return one(each(DType::f32, {11, 25}, [&](const Index& i) {
           const bool inside = i[0] >= 2 && i[0] < 9 && i[1] >= 2 && i[1] < 23;
           return Element{inside ? in[0](i[0] - 2, i[1] - 2) : 0, 1};
         }));
       }});
}

void reductions(std::vector<ProgramCase>& cases) {
  for (const std::int64_t columns : {0, 1, 13, 131}) {
    cases.push_back({"row sum of " + std::to_string(columns) + " columns",
                     "def row_sum(float32(N,M) A) -> (S) { S(i) +=! A(i,j) }",
                     {random_data(DType::f32, {9, columns}, 14)},
                     [](const Arguments& in) {
                       return one(each(DType::f32, {9}, [&](const Index& i) {
                         Element sum;
                         for (std::int64_t j = 0; j < in[0].dim(1); ++j) sum.add(in[0](i[0], j));
                         return sum;
                       }));
                     },
                     1e-6});
  }
  cases.push_back({"full sum to a scalar",
                   "def total(int64(N,M) A) -> (S) { S() +=! A(i,j) }",
                   {random_data(DType::i64, {12, 31}, 15)},
                   [](const Arguments& in) {
                     return one(each(DType::i64, {}, [&](const Index&) {
                       Element sum;
                       for (const double value : in[0].values) sum.add(value);
                       return sum;
                     }));
                   }});
  cases.push_back(
      {"row product, minimum and maximum",
       "def extremes(float64(N,M) A) -> (P, L, H) { P(i) *=! A(i,j) + 1.5\n L(i) min=! A(i,j)\n H(i) max=! A(i,j) }",
       {random_data(DType::f64, {5, 41}, 16)},
       [](const Arguments& in) {
         auto reduce = [&](auto combine, double start) {
           return each(DType::f64, {5}, [&](const Index& i) {
             double value = start;
             for (std::int64_t j = 0; j < in[0].dim(1); ++j) value = combine(value, in[0](i[0], j));
             return Element{value, std::abs(value)};
           });
         };
         return std::vector<Expected>{reduce([](double a, double b) { return a * (b + 1.5); }, 1),
                                      reduce([](double a, double b) { return std::min(a, b); }, INFINITY),
                                      reduce([](double a, double b) { return std::max(a, b); }, -INFINITY)};
       },
       1e-13});
}

void arithmetic(std::vector<ProgramCase>& cases) {
  cases.push_back(
      {"integer division and modulo floor",
       "def parts(int64(N) A, int64(N) B) -> (Q, R) { Q(i) = A(i) / (B(i) * 2 + 1)\n R(i) = A(i) % (B(i) * 2 + 1) }",
       {random_data(DType::i64, {131}, 17), random_data(DType::i64, {131}, 18)},
       [](const Arguments& in) {
         auto quotient = [&](std::int64_t i) { return std::floor(in[0](i) / (in[1](i) * 2 + 1)); };
         return std::vector<Expected>{
             each(DType::i64, in[0].shape, [&](const Index& i) { return Element{quotient(i[0]), 1}; }),
             each(DType::i64, in[0].shape,
                  [&](const Index& i) { return Element{in[0](i[0]) - quotient(i[0]) * (in[1](i[0]) * 2 + 1), 1}; })};
       }});
  cases.push_back(
      {"math functions",
       "def maths(float32(N) A) -> (B) { B(i) = exp(A(i)) + sqrt(abs(A(i))) * tanh(A(i)) - log(A(i) * A(i) + 1.0) + "
       "floor(A(i) * 4.0) }",
       {random_data(DType::f32, {77}, 19)},
       [](const Arguments& in) {
         return one(each(DType::f32, in[0].shape, [&](const Index& i) {
           const double a = in[0](i[0]);
           return Element{std::exp(a) + std::sqrt(std::abs(a)) * std::tanh(a) - std::log(a * a + 1) + std::floor(a * 4),
                          8};
         }));
       },
       1e-6});
}

}  // namespace

std::vector<ProgramCase> expression_cases() {
  std::vector<ProgramCase> cases;
  vector_add(cases);
  casts(cases);
  shapes(cases);
  reductions(cases);
  arithmetic(cases);
  return cases;
}

}  // namespace ferry::test
