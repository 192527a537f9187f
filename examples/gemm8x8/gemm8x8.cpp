#include "examples/gemm8x8/gemm8x8.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/tensor.h"
#include "ferry/operators.h"

#include <fstream>
#include <iterator>

namespace ferry::example {

namespace {

using namespace ir;

// A tile of 8 x 8 elements of a larger matrix.
BufferRef tile(const char* name, const Expr& stride) { return piece(name, DType::f32, {8, 8}, {stride, 1}); }

}  // namespace

std::shared_ptr<const Context> with_gemm8x8() {
  const BufferRef c = tile("c", lang::var("ldc")), a = tile("a", lang::var("lda")), b = tile("b", lang::var("ldb"));
  const Axis i = {lang::var("i"), 0, 8}, j = {lang::var("j"), 0, 8}, k = {lang::var("k"), 0, 8};
  const Expr sum = element(c, {i.var, j.var}) + element(a, {i.var, k.var}) * element(b, {k.var, j.var});
  const auto context = std::make_shared<Context>();
  // C functions, described as loops: their parameters are the pointers to the tiles, then the strides.
  context->add_tensor_intrinsic("gemm8x8",
                                {.update = nest_function("gemm8x8_update", {c, a, b}, {i, j, k}, {i.var, j.var}, sum),
                                 .reset = nest_function("gemm8x8_reset", {c}, {i, j}, {i.var, j.var}, 0.0f)});

  std::ifstream object(FERRY_GEMM8X8, std::ios::binary);
  if (!object) throw CompileError("cannot read " FERRY_GEMM8X8);
  context->add_object(resolve_target("host").arch_name,
                      {std::istreambuf_iterator<char>(object), std::istreambuf_iterator<char>()});
  return context;
}

}  // namespace ferry::example
