// Cases for views of larger tensors: parameters that declare strides.
#include "ferry/lang/tensor.h"
#include "tests/e2e/programs/program_case.h"

namespace ferry::test {

namespace {

using Index = std::vector<std::int64_t>;
using Arguments = std::vector<Data>;

std::vector<Expected> one(Expected expected) { return {std::move(expected)}; }

Element product(const Data& a, const Data& b, const Index& i) {
  Element sum;
  for (std::int64_t k = 0; k < a.dim(1); ++k) sum.add(a(i[0], k) * b(k, i[1]));
  return sum;
}

}  // namespace

std::vector<ProgramCase> stride_cases() {
  std::vector<ProgramCase> cases;
  for (const std::int64_t row : {37, 38, 64}) {
    cases.push_back(
        {"product of blocks of matrices with rows of " + std::to_string(row),
         "def mm(float32(M,K) A strides(lda,1), float32(K,N) B strides(ldb,1)) -> (C) "
         "{ C(m,n) +=! A(m,k) * B(k,n) }",
         {view_data(DType::f32, {13, 19}, {row, 1}, 80), view_data(DType::f32, {19, 35}, {row, 1}, 81),
          scalar_data(DType::i64, static_cast<double>(row)), scalar_data(DType::i64, static_cast<double>(row))},
         [](const Arguments& in) {
           return one(
               each(DType::f32, {13, 35}, [&](const Index& i) { return product(dense(in[0]), dense(in[1]), i); }));
         },
         1e-6});
  }
  cases.push_back({"every third element, and a column of a matrix",
                   "def f(int32(N) A strides(s), int32(N) B strides(t)) -> (C) { C(i) = A(i) - 2 * B(i) }",
                   {view_data(DType::i32, {67}, {3}, 82), view_data(DType::i32, {67}, {11}, 83),
                    scalar_data(DType::i64, 3), scalar_data(DType::i64, 11)},
                   [](const Arguments& in) {
                     const Data a = dense(in[0]), b = dense(in[1]);
                     return one(
                         each(DType::i32, {67}, [&](const Index& i) { return Element{a(i[0]) - 2 * b(i[0]), 1}; }));
                   }});
  cases.push_back({"a stride of 0 repeats one row",
                   "def f(float64(M,N) A strides(0,1), float64(M,N) B) -> (C) { C(i,j) = A(i,j) + B(i,j) }",
                   {view_data(DType::f64, {9, 21}, {0, 1}, 84), random_data(DType::f64, {9, 21}, 85)},
                   [](const Arguments& in) {
                     return one(each(DType::f64, {9, 21},
                                     [&](const Index& i) { return Element{in[0](i[1]) + in[1](i[0], i[1]), 1}; }));
                   },
                   1e-15});
  cases.push_back({"column-major matrices whose stride is a size of another argument",
                   "def f(float32(M,N) A strides(1,L), float32(L) x) -> (y) { y(j) +=! A(i,j) * x(i) where i in 0:M }",
                   {view_data(DType::f32, {17, 23}, {1, 29}, 86), random_data(DType::f32, {29}, 87)},
                   [](const Arguments& in) {
                     const Data a = dense(in[0]);
                     return one(each(DType::f32, {23}, [&](const Index& j) {
                       Element sum;
                       for (std::int64_t i = 0; i < 17; ++i) sum.add(a(i, j[0]) * in[1](i));
                       return sum;
                     }));
                   },
                   1e-6});
  cases.push_back({"a block is updated in place and what lies around it stays",
                   "def f(float32(M,N) C strides(ldc,1), float32(M,K) A, float32(K,N) B) -> (C) "
                   "{ C(m,n) += A(m,k) * B(k,n) }",
                   {view_data(DType::f32, {11, 18}, {40, 1}, 88), random_data(DType::f32, {11, 5}, 89),
                    random_data(DType::f32, {5, 18}, 90), scalar_data(DType::i64, 40)},
                   [](const Arguments& in) {
                     const Data c = dense(in[0]);
                     return one(each(DType::f32, {11, 18}, [&](const Index& i) {
                       Element sum = product(in[1], in[2], i);
                       sum.add(c(i[0], i[1]));
                       return sum;
                     }));
                   },
                   1e-6});
  const lang::Expr m = lang::var("m"), n = lang::var("n"), ld = lang::var("ld");
  const lang::Tensor a = lang::placeholder({m, n}, DType::f32, "A");
  const lang::Tensor t = lang::compute({n, m}, [&](const auto& i) { return a(i[1], i[0]) * 2.0f; }, "T");
  cases.push_back({"a strided output built in C++",
                   "",
                   {random_data(DType::f32, {21, 13}, 91), scalar_data(DType::i64, 25)},
                   [](const Arguments& in) {
                     return one(
                         each(DType::f32, {13, 21}, [&](const Index& i) { return Element{in[0](i[1], i[0]) * 2, 1}; }));
                   },
                   0,
                   lang::make_program("f", {lang::in(a), lang::out(t, {ld, 1})})});
  return cases;
}

}  // namespace ferry::test
