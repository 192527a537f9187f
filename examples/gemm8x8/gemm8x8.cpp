#include "examples/gemm8x8/gemm8x8.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/target/resolve.h"
#include "ferry/operators.h"

#include <fstream>
#include <iterator>

namespace ferry::example {

namespace {

using namespace ir;

// A tile of 8 x 8 elements of a larger matrix.
BufferRef piece(const char* name, const Expr& stride) {
  auto buffer = std::make_shared<Buffer>();
  buffer->name = name;
  buffer->shape = {Expr(8), Expr(8)};
  buffer->strides = {stride, Expr(1)};
  return buffer;
}

// Describes a C function as loops: its parameters are the pointers to the tiles, then the strides.
NestFunction function(const char* name, const std::vector<BufferRef>& pieces, const std::vector<Expr>& axes,
                      Stmt body) {
  NestFunction made{name, {}};
  made.meaning.name = name;
  for (const BufferRef& buffer : pieces) {
    made.meaning.parameters.push_back({buffer->name, ParameterKind::tensor, Direction::in, buffer, {}});
    made.meaning.symbols.push_back(buffer->strides[0]);
  }
  for (std::size_t a = axes.size(); a-- > 0;) body = For::make(axes[a], Expr(0), Expr(8), ForKind::serial, body);
  made.meaning.body = body;
  return made;
}

}  // namespace

std::shared_ptr<const Context> with_gemm8x8() {
  const BufferRef c = piece("c", Var::make("ldc")), a = piece("a", Var::make("lda")), b = piece("b", Var::make("ldb"));
  const Expr i = Var::make("i"), j = Var::make("j"), k = Var::make("k");
  const Expr sum = Load::make(c, {i, j}) + Load::make(a, {i, k}) * Load::make(b, {k, j});
  const auto context = std::make_shared<Context>();
  context->add_tensor_intrinsic(
      "gemm8x8", {.update = function("gemm8x8_update", {c, a, b}, {i, j, k}, Store::make(c, {i, j}, sum)),
                  .reset = function("gemm8x8_reset", {c}, {i, j}, Store::make(c, {i, j}, Expr(0.0f)))});

  std::ifstream object(FERRY_GEMM8X8, std::ios::binary);
  if (!object) throw CompileError("cannot read " FERRY_GEMM8X8);
  context->add_object(resolve_target("host").arch_name,
                      {std::istreambuf_iterator<char>(object), std::istreambuf_iterator<char>()});
  return context;
}

}  // namespace ferry::example
