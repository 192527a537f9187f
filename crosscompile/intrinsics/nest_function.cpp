// The loops that say what a C function on pieces of tensors computes.
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/function.h"
#include "ferry/intrinsics.h"

#include <algorithm>
#include <utility>

namespace ferry {
namespace {

using namespace ir;

void expect_one_each(const char* what, std::size_t count, const std::string& name, std::size_t rank) {
  if (count == rank) return;
  throw CompileError("piece '" + name + "': expected " + what + " for each dimension, " + std::to_string(rank) +
                     ", got " + std::to_string(count));
}

}  // namespace

BufferRef piece(std::string name, DType dtype, std::vector<Expr> shape, std::vector<Expr> strides) {
  expect_one_each("a stride", strides.size(), name, shape.size());
  auto buffer = std::make_shared<Buffer>();
  buffer->name = std::move(name);
  buffer->dtype = dtype;
  buffer->shape = std::move(shape);
  buffer->strides = std::move(strides);
  return buffer;
}

Expr element(const BufferRef& piece, std::vector<Expr> indices) {
  expect_one_each("an index", indices.size(), piece->name, piece->shape.size());
  return Load::make(piece, std::move(indices));
}

NestFunction nest_function(std::string symbol, const std::vector<BufferRef>& pieces, const std::vector<Axis>& axes,
                           std::vector<Expr> indices, Expr value) {
  if (pieces.empty()) throw CompileError("'" + symbol + "': expected at least one piece");
  expect_one_each("an index", indices.size(), pieces.front()->name, pieces.front()->shape.size());
  Function definition;
  definition.name = symbol;
  for (const BufferRef& buffer : pieces) {
    definition.parameters.push_back({buffer->name, ParameterKind::tensor, Direction::in, buffer, {}});
    for (const Expr& stride : buffer->strides) {
      const bool is_known = std::any_of(definition.symbols.begin(), definition.symbols.end(),
                                        [&](const Expr& other) { return other.same_as(stride); });
      if (stride.as<Var>() != nullptr && !is_known) definition.symbols.push_back(stride);
    }
  }
  definition.body = Store::make(pieces.front(), std::move(indices), std::move(value));
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
    definition.body = For::make(axis->var, axis->min, axis->extent, ForKind::serial, definition.body);
  return {std::move(symbol), std::make_shared<const Function>(std::move(definition))};
}

}  // namespace ferry
