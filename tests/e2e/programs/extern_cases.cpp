// Cases for C functions on tensors: as whole stages, and as replacements of loop nests (tensorize).
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "crosscompile/intrinsics/intrinsics.h"
#include "crosscompile/ir/expr.h"
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

ir::BufferRef piece(const char* name, const Expr& stride) {
  auto buffer = std::make_shared<ir::Buffer>();
  buffer->name = name;
  buffer->shape = {Expr(8), Expr(8)};
  buffer->strides = {stride, Expr(1)};
  return buffer;
}

ir::Stmt loop(const Expr& var, ir::Stmt body) {
  return ir::For::make(var, Expr(0), Expr(8), ir::ForKind::serial, std::move(body));
}

// C[8,8] += A[8,8] * B[8,8], where each operand is a tile of a larger matrix.
TensorIntrinsic gemm8x8() {
  const Expr ldc = ir::Var::make("ldc"), lda = ir::Var::make("lda"), ldb = ir::Var::make("ldb");
  const ir::BufferRef c = piece("c", ldc), a = piece("a", lda), b = piece("b", ldb);
  const Expr i = ir::Var::make("i"), j = ir::Var::make("j"), k = ir::Var::make("k");
  const auto parameter = [](const ir::BufferRef& buffer) {
    return ir::FunctionParameter{buffer->name, ParameterKind::tensor, Direction::in, buffer, {}};
  };
  NestFunction update{"gemm8x8_update", {}}, reset{"gemm8x8_reset", {}};
  update.meaning.name = update.symbol;
  update.meaning.parameters = {parameter(c), parameter(a), parameter(b)};
  update.meaning.symbols = {ldc, lda, ldb};
  const Expr product = ir::Load::make(a, {i, k}) * ir::Load::make(b, {k, j});
  update.meaning.body = loop(i, loop(j, loop(k, ir::Store::make(c, {i, j}, ir::Load::make(c, {i, j}) + product))));
  reset.meaning.name = reset.symbol;
  reset.meaning.parameters = {parameter(c)};
  reset.meaning.symbols = {ldc};
  reset.meaning.body = loop(i, loop(j, ir::Store::make(c, {i, j}, Expr(0.0f))));
  return {update, reset};
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
