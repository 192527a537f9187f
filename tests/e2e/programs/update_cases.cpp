// Cases for tensors that are updated in place in several steps, for C functions, and for functions defined by others.
#include <algorithm>
#include <cmath>

#include "ferry/intrinsics.h"
#include "ferry/lang/math.h"
#include "ferry/lang/tensor.h"
#include "tests/e2e/programs/program_case.h"

namespace ferry::test {

namespace {

using Index = std::vector<std::int64_t>;
using Arguments = std::vector<Data>;
using lang::Expr;
using lang::Tensor;

std::vector<Expected> one(Expected expected) { return {std::move(expected)}; }

// alpha * A B + beta * C, with the arguments alpha, beta, A, B, C.
std::vector<Expected> sgemm(const Arguments& in) {
  return one(each(DType::f32, in[4].shape, [&](const Index& i) {
    Element sum;
    for (std::int64_t k = 0; k < in[2].dim(1); ++k) sum.add(in[0](0) * in[2](i[0], k) * in[3](k, i[1]));
    sum.add(in[1](0) * in[4](i[0], i[1]));
    return sum;
  }));
}

Arguments sgemm_arguments() {
  return {scalar_data(DType::f32, 1.5), scalar_data(DType::f32, -0.5), random_data(DType::f32, {13, 21}, 100),
          random_data(DType::f32, {21, 35}, 101), random_data(DType::f32, {13, 35}, 102)};
}

void products(std::vector<ProgramCase>& cases) {
  cases.push_back({"sgemm in two statements",
                   "def sgemm(float a, float b, float(M,K) A, float(K,N) B, float(M,N) C) -> (C) {\n"
                   "  C(i,j) = b * C(i,j)\n  C(i,j) += a * A(i,k) * B(k,j)\n}",
                   sgemm_arguments(), sgemm, 1e-6});
  const Expr m = lang::var("m"), n = lang::var("n"), k = lang::var("k");
  const Expr alpha = lang::var("alpha", DType::f32), beta = lang::var("beta", DType::f32);
  const Tensor a = lang::placeholder({m, k}, DType::f32, "A"), b = lang::placeholder({k, n}, DType::f32, "B");
  const Tensor c = lang::placeholder({m, n}, DType::f32, "C");
  const lang::ReduceAxis x = lang::reduce_axis(k, "x");
  const Tensor scaled = lang::update(c, [&](auto& i) { return beta * c(i); }, "scaled");
  const Tensor done = lang::update(
      scaled,
      [&](auto& i) {
        return lang::reduce(ir::ReduceOp::sum, alpha * a(i[0], Expr(x)) * b(Expr(x), i[1]), {x}, {}, scaled(i));
      },
      "done");
  cases.push_back({"sgemm of two updates in C++", "", sgemm_arguments(), sgemm, 1e-6,
                   lang::make_program("sgemm", {lang::scalar(alpha), lang::scalar(beta), lang::in(a), lang::in(b),
                                                lang::inout(c, done)})});
}

void steps(std::vector<ProgramCase>& cases) {
  cases.push_back({"parts of a tensor updated one after the other",
                   "def f(int32(N) A) -> (A) {\n  A(i) += 10 where i in 2:7\n  A(i) *= 3 where i in 5:20\n"
                   "  A(i) = A(N - 1 - i) - A(i)\n}",
                   {random_data(DType::i32, {33}, 103)},
                   [](const Arguments& in) {
                     const auto second = [&](std::int64_t i) {
                       const double first = in[0](i) + (i >= 2 && i < 7 ? 10 : 0);
                       return i >= 5 && i < 20 ? first * 3 : first;
                     };
                     return one(each(DType::i32, {33},
                                     [&](const Index& i) { return Element{second(32 - i[0]) - second(i[0]), 1}; }));
                   }});
  cases.push_back({"a new tensor updated three times",
                   "def f(float64(M,K) A) -> (S) { S(i) +=! A(i,k)  S(i) max= A(i,k) * 5  S(i) = S(i) / K }",
                   {random_data(DType::f64, {11, 19}, 104)},
                   [](const Arguments& in) {
                     return one(each(DType::f64, {11}, [&](const Index& i) {
                       Element sum;
                       for (std::int64_t k = 0; k < 19; ++k) sum.add(in[0](i[0], k));
                       for (std::int64_t k = 0; k < 19; ++k) sum.value = std::max(sum.value, in[0](i[0], k) * 5);
                       return Element{sum.value / 19, sum.scale};
                     }));
                   },
                   1e-14});
}

double gelu(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }

void functions(std::vector<ProgramCase>& cases) {
  for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const double tolerance = type == DType::f16 ? 4e-3 : type == DType::bf16 ? 3e-2 : type == DType::f32 ? 1e-6 : 1e-13;
    cases.push_back({std::string("gelu, clamp and any of ") + dtype_name(type),
                     std::string("def f(") + dtype_name(type) +
                         "(N) A) -> (B, C) { B(i) = gelu(A(i) * 3)  C(i) = any(A(i) > 0.5, A(i) < -0.5, i == 0) ? "
                         "clamp(A(i) * 2, -1.5, 1.5) : A(i) }",
                     {random_data(type, {69}, 105)},
                     [type](const Arguments& in) {
                       return std::vector<Expected>{
                           each(type, {69}, [&](const Index& i) { return Element{gelu(in[0](i[0]) * 3), 3}; }),
                           each(type, {69}, [&](const Index& i) {
                             const double a = in[0](i[0]);
                             const bool outer = a > 0.5 || a < -0.5 || i[0] == 0;
                             return Element{outer ? std::clamp(a * 2, -1.5, 1.5) : a, 1};
                           })};
                     },
                     tolerance});
  }
  cases.push_back({"C functions by name",
                   "def f(float(N) A, double(N) D) -> (B, E) { B(i) = cosf(A(i)) + fmaf(A(i), 2, 1)  "
                   "E(i) = roundeven(D(i) * 9) + powf(A(i) + 2, 3) }",
                   {random_data(DType::f32, {37}, 106), random_data(DType::f64, {37}, 107)},
                   [](const Arguments& in) {
                     return std::vector<Expected>{
                         each(DType::f32, {37},
                              [&](const Index& i) { return Element{std::cos(in[0](i[0])) + in[0](i[0]) * 2 + 1, 4}; }),
                         each(DType::f64, {37}, [&](const Index& i) {
                           return Element{std::nearbyint(in[1](i[0]) * 9) + std::pow(in[0](i[0]) + 2, 3), 30};
                         })};
                   },
                   1e-6});
  for (const DType type : {DType::i8, DType::u16, DType::i32, DType::u64}) {
    cases.push_back(
        {std::string("bits of ") + dtype_name(type),
         std::string("def f(") + dtype_name(type) + "(N) A) -> (P, Z) { P(i) = popcount(A(i))  Z(i) = clz(A(i)) }",
         {random_data(type, {41}, 108)},
         [type](const Arguments& in) {
           const int width = static_cast<int>(dtype_bytes(type)) * 8;
           const auto bits = [&, width](double value) {
             const auto all = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
             return width == 64 ? all : all & ((std::uint64_t{1} << width) - 1);
           };
           return std::vector<Expected>{each(type, {41},
                                             [&](const Index& i) {
                                               return Element{
                                                   static_cast<double>(__builtin_popcountll(bits(in[0](i[0])))), 1};
                                             }),
                                        each(type, {41}, [&](const Index& i) {
                                          const std::uint64_t b = bits(in[0](i[0]));
                                          const int leading = b == 0 ? 64 : __builtin_clzll(b);
                                          return Element{static_cast<double>(leading - (64 - width)), 1};
                                        })};
         }});
  }
}

// A user-defined function, with a rule of higher priority for one architecture that computes the same.
void intrinsics(std::vector<ProgramCase>& cases) {
  const auto context = std::make_shared<Context>();
  context->add_intrinsic("mylog", same_float_types(1));
  context->add_rule("mylog",
                    {"", {}, 0, [](const IntrinsicCall& call) { return ir::call_math("log", call.arguments); }});
  context->add_rule("mylog", {"aarch64", {}, 10, [](const IntrinsicCall& call) {
                                const Expr ln2 = ir::constant(call.type, 0.6931471805599453);
                                return ir::call_math("log2", call.arguments) * ln2;
                              }});
  const Tensor a = lang::placeholder({lang::var("n")}, DType::f32, "A");
  const Tensor b = lang::compute(a.shape(), [&](auto& i) { return context->call("mylog", {a(i) + 2.0f}) * 3.0f; }, "B");
  cases.push_back(
      {"an intrinsic of the user's own",
       "",
       {random_data(DType::f32, {75}, 109)},
       [](const Arguments& in) {
         return one(each(DType::f32, {75}, [&](const Index& i) { return Element{std::log(in[0](i[0]) + 2) * 3, 6}; }));
       },
       1e-6,
       lang::make_program("f", {lang::in(a), lang::out(b)}, {}, context)});
}

}  // namespace

std::vector<ProgramCase> update_cases() {
  std::vector<ProgramCase> cases;
  products(cases);
  steps(cases);
  functions(cases);
  intrinsics(cases);
  return cases;
}

}  // namespace ferry::test
