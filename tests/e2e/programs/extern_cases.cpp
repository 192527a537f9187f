// Cases for C functions on tensors: as whole stages, and as replacements of loop nests (tensorize).
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "ferry/intrinsics.h"
#include "ferry/lang/extern_stage.h"
#include "tests/e2e/programs/built_case.h"

namespace ferry::test {

namespace {

using lang::Expr;
using lang::Tensor;

std::vector<std::uint8_t> object_for(const std::string& arch) {
  const std::string path = FERRY_C_FUNCTIONS + arch + ".o";
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

ir::BufferRef tile(const char* name, const Expr& stride) { return piece(name, DType::f32, {8, 8}, {stride, 1}); }

// C[8,8] += A[8,8] * B[8,8], where each operand is a tile of a larger matrix.
TensorIntrinsic gemm8x8() {
  const ir::BufferRef c = tile("c", lang::var("ldc")), a = tile("a", lang::var("lda")), b = tile("b", lang::var("ldb"));
  const ir::Axis i = {lang::var("i"), 0, 8}, j = {lang::var("j"), 0, 8}, k = {lang::var("k"), 0, 8};
  const Expr product = element(a, {i.var, k.var}) * element(b, {k.var, j.var});
  return {nest_function("gemm8x8_update", {c, a, b}, {i, j, k}, {i.var, j.var}, element(c, {i.var, j.var}) + product),
          nest_function("gemm8x8_reset", {c}, {i, j}, {i.var, j.var}, 0.0f)};
}

std::shared_ptr<const Context> c_functions() {
  auto context = std::make_shared<Context>();
  context->add_tensor_intrinsic("gemm8x8", gemm8x8());
  for (const char* arch : {"x86_64", "armv7", "aarch64", "riscv64"}) context->add_object(arch, object_for(arch));
  return context;
}

void pieces(std::vector<ProgramCase>& cases, const std::shared_ptr<const Context>& context) {
  const Tensor a = lang::placeholder({24, 40}, DType::f32, "A"), b = lang::placeholder({40, 16}, DType::f32, "B");
  const lang::ReduceAxis k = lang::reduce_axis(40, "k");
  const Tensor c = lang::compute({24, 16}, [&](auto& i) { return lang::sum(a(i[0], k) * b(k, i[1]), {k}); }, "C");
  for (const char* schedule :
       {// Partial results stay in a tile of the stack.
        "tile i0 i1 8 8 -> mo no mi ni; split k 8 -> ko ki; reorder mo no ko mi ni ki; tensorize mi gemm8x8",
        // Each tile of the result is updated once for each tile of the reduction.
        "tile i0 i1 8 8 -> mo no mi ni; split k 8 -> ko ki; reorder ko mo no mi ni ki; tensorize mi gemm8x8; parallel "
        "mo"}) {
    ProgramCase one{std::string("a product by a C function under \"") + schedule + "\"",
                    "",
                    {floats({24, 40}, 140), floats({40, 16}, 141)},
                    [](const Arguments& in) {
                      return std::vector<Expected>{each(DType::f32, {24, 16}, [&](const Index& i) {
                        return sum_over({40}, [&](auto& r) { return in[0](i[0], r[0]) * in[1](r[0], i[1]); });
                      })};
                    },
                    1e-6,
                    lang::make_program("f", {lang::in(a), lang::in(b), lang::out(c)}, {}, context)};
    one.schedule = schedule;
    cases.push_back(std::move(one));
  }
}

void stages(std::vector<ProgramCase>& cases, const std::shared_ptr<const Context>& context) {
  const Expr m = lang::var("m"), n = lang::var("n"), weight = lang::var("weight", DType::f32);
  const Tensor a = lang::placeholder({m, n}, DType::f32, "A");
  const Tensor twice = lang::compute({m, n}, [&](auto& i) { return a(i) * 2.0f; }, "twice");
  const lang::ReduceAxis j = lang::reduce_axis(n, "j");
  const Tensor sums = lang::extern_stage(
      {m, n}, [&](auto& i) { return lang::reduce(ir::ReduceOp::sum, weight * twice(i[0], j), {j}, Expr(j) <= i[1]); },
      "running_sum", {twice, m, n, weight}, "sums");
  const Tensor less = lang::compute({m, n}, [&](auto& i) { return sums(i) - a(i); }, "less");
  cases.push_back({"a stage that a C function computes, between two others",
                   "",
                   {floats({7, 33}, 142), scalar_data(DType::f32, 0.75)},
                   [](const Arguments& in) {
                     return std::vector<Expected>{each(DType::f32, {7, 33}, [&](const Index& i) {
                       Element sum = sum_over({i[1] + 1}, [&](auto& r) { return 1.5 * in[0](i[0], r[0]); });
                       sum.add(-in[0](i[0], i[1]));
                       return sum;
                     })};
                   },
                   1e-6,
                   lang::make_program("f", {lang::in(a), lang::scalar(weight), lang::out(less)}, {}, context)});
}

}  // namespace

std::vector<ProgramCase> extern_cases() {
  const std::shared_ptr<const Context> context = c_functions();
  std::vector<ProgramCase> cases;
  pieces(cases, context);
  stages(cases, context);
  return cases;
}

}  // namespace ferry::test
