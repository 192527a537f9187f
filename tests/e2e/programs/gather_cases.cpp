// Cases for indices that are loaded from tensors.
#include <algorithm>

#include "ferry/lang/tensor.h"
#include "tests/e2e/programs/program_case.h"

namespace ferry::test {

namespace {

using Index = std::vector<std::int64_t>;
using Arguments = std::vector<Data>;

std::vector<Expected> one(Expected expected) { return {std::move(expected)}; }

// Returns every index from 0 to `below`, in a random order, repeatedly.
Data places(DType type, Index shape, std::int64_t below, std::uint64_t seed) {
  Data data = random_data(DType::i64, std::move(shape), seed);
  data.dtype = type;
  std::int64_t step = static_cast<std::int64_t>(seed);
  for (double& value : data.values)
    value = static_cast<double>((static_cast<std::int64_t>(value) + 7 + 5 * step++) % below);
  return data;
}

std::int64_t at(const Data& places, std::int64_t i) { return static_cast<std::int64_t>(places(i)); }

void inside(std::vector<ProgramCase>& cases) {
  for (const DType type : {DType::i8, DType::i32, DType::i64, DType::u16, DType::u64}) {
    cases.push_back(
        {std::string("rows chosen by ") + dtype_name(type),
         std::string("def embed(float32(V,D) A, ") + dtype_name(type) + "(N) I) -> (B) { B(i,j) = A(I(i), j) }",
         {random_data(DType::f32, {29, 21}, 60), places(type, {37}, 29, 61)},
         [](const Arguments& in) {
           return one(
               each(DType::f32, {37, 21}, [&](const Index& i) { return Element{in[0](at(in[1], i[0]), i[1]), 1}; }));
         }});
  }
  cases.push_back(
      {"elements chosen by chosen places",
       "def f(float32(N) A, int32(K) J, int32(M) I) -> (B) { B(i) = A(J(I(i)) + 1) }",
       {random_data(DType::f32, {41}, 62), places(DType::i32, {17}, 40, 63), places(DType::i32, {67}, 17, 64)},
       [](const Arguments& in) {
         return one(
             each(DType::f32, {67}, [&](const Index& i) { return Element{in[0](at(in[1], at(in[2], i[0])) + 1), 1}; }));
       }});
  cases.push_back({"a sum over chosen elements",
                   "def f(float32(N) A, int32(M,K) I) -> (S) { S(m) +=! A(I(m,k)) }",
                   {random_data(DType::f32, {41}, 65), places(DType::i32, {9, 19}, 41, 66)},
                   [](const Arguments& in) {
                     return one(each(DType::f32, {9}, [&](const Index& i) {
                       Element sum;
                       for (std::int64_t k = 0; k < 19; ++k) sum.add(in[0](at(in[1], i[0] * 19 + k)));
                       return sum;
                     }));
                   },
                   1e-6});
  Data unsure = places(DType::i32, {53}, 41, 67);
  unsure.values[3] = -1;
  unsure.values[50] = 41;
  cases.push_back({"a condition keeps an index from being used",
                   "def f(float32(N) A, int32(M) I) -> (B) { B(i) = I(i) >= 0 && I(i) < N ? A(I(i)) : 9 }",
                   {random_data(DType::f32, {41}, 68), unsure},
                   [](const Arguments& in) {
                     return one(each(DType::f32, {53}, [&](const Index& i) {
                       const std::int64_t place = at(in[1], i[0]);
                       return Element{place >= 0 && place < 41 ? in[0](place) : 9, 1};
                     }));
                   }});
  cases.push_back({"a table of 256 entries needs no check of a byte",
                   "def f(float32(256) T, uint8(N) I) -> (B) { B(i) = T(I(i)) }",
                   {random_data(DType::f32, {256}, 69), places(DType::u8, {71}, 256, 70)},
                   [](const Arguments& in) {
                     return one(
                         each(DType::f32, {71}, [&](const Index& i) { return Element{in[0](at(in[1], i[0])), 1}; }));
                   }});
  cases.push_back({"a place that is computed first",
                   "def f(float32(M,K) A, float32(M,K) B) -> (C) { I(m) argmax=! A(m,k)  C(m) = B(m, I(m)) }",
                   {random_data(DType::f32, {11, 23}, 71), random_data(DType::f32, {11, 23}, 72)},
                   [](const Arguments& in) {
                     return one(each(DType::f32, {11}, [&](const Index& i) {
                       std::int64_t best = 0;
                       for (std::int64_t k = 1; k < 23; ++k) {
                         if (in[0](i[0], k) > in[0](i[0], best)) best = k;
                       }
                       return Element{in[1](i[0], best), 1};
                     }));
                   }});
  const lang::Expr n = lang::var("n"), m = lang::var("m");
  const lang::Tensor a = lang::placeholder({n}, DType::i16, "A"), i = lang::placeholder({m}, DType::i32, "I");
  const lang::Tensor b = lang::compute({m}, [&](const auto& x) { return a(i(x[0])); }, "B");
  cases.push_back({"a gather built in C++",
                   "",
                   {random_data(DType::i16, {31}, 73), places(DType::i32, {45}, 31, 74)},
                   [](const Arguments& in) {
                     return one(
                         each(DType::i16, {45}, [&](const Index& x) { return Element{in[0](at(in[1], x[0])), 1}; }));
                   },
                   0,
                   lang::make_program("f", {lang::in(a), lang::in(i), lang::out(b)})});
}

void outside(std::vector<ProgramCase>& cases) {
  for (const std::int64_t wrong : {-1, 29, 127}) {
    Data rows = places(DType::i8, {37}, 29, 61);
    rows.values[36] = static_cast<double>(wrong);
    cases.push_back({"row " + std::to_string(wrong) + " of 29 is refused",
                     "def embed(float32(V,D) A, int8(N) I) -> (B) { B(i,j) = A(I(i), j) }",
                     {random_data(DType::f32, {29, 21}, 60), rows},
                     {}});
    cases.back().failure = "'B' reads 'A' outside its shape: expected i64(I[i]) as index 1 to stay within 0:V";
  }
  cases.push_back(
      {"one wrong place among those in between is refused",
       "def f(float32(N) A, int32(K) J, int32(M) I) -> (B) { B(i) = A(J(I(i))) }",
       {random_data(DType::f32, {41}, 62), places(DType::i32, {17}, 40, 63), places(DType::i32, {67}, 18, 64)},
       {}});
  cases.back().failure = "'B' reads 'J' outside its shape: expected i64(I[i]) as index 1 to stay within 0:K";
}

}  // namespace

std::vector<ProgramCase> gather_cases() {
  std::vector<ProgramCase> cases;
  inside(cases);
  outside(cases);
  return cases;
}

}  // namespace ferry::test
