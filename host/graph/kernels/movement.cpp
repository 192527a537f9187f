// Operators that only move elements.
#include "ferry/ops/indexing.h"
#include "ferry/ops/shapes.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "host/graph/kernels/families.h"
#include "host/lang/library.h"

#include <algorithm>
#include <span>

namespace ferry::graph {
namespace {

using lang::Expr;

std::vector<Expr> sizes_of(const Shape& shape, const SizeExpr& size) {
  std::vector<Expr> sizes;
  for (const Size& one : shape) sizes.push_back(size(one));
  return sizes;
}

// Returns the element of this index, of which `elements` are those from `first` on, by a search in two halves.
Expr element_at(std::span<const Expr> elements, std::size_t first, const Expr& index) {
  const bool is_one = std::ranges::all_of(elements, [&](const Expr& each) { return ir::equal(each, elements[0]); });
  if (is_one) return elements[0];
  const std::size_t half = elements.size() / 2;
  return ir::select(index < Expr(static_cast<std::int64_t>(first + half)),
                    element_at(elements.first(half), first, index),
                    element_at(elements.subspan(half), first + half, index));
}

}  // namespace

lang::Tensor broadcast_to(const BroadcastAttributes& attributes, const Inputs& inputs, const SizeExpr& size,
                          const std::string& name) {
  return lang::library::compute(
      sizes_of(attributes.shape, size), [&](const std::vector<Expr>& i) { return element_of(inputs[0], i); }, name);
}

lang::Tensor sliced(const SliceAttributes& attributes, const Inputs& inputs, const SizeExpr& size,
                    const std::string& name) {
  return ops::slice(inputs[0], sizes_of(attributes.begin, size), {attributes.stride.begin(), attributes.stride.end()},
                    sizes_of(attributes.shape, size), name);
}

lang::Tensor padded(const PadAttributes& attributes, const Inputs& inputs, const SizeExpr& size,
                    const std::string& name) {
  const ir::Type type(inputs[0].dtype());
  const Expr value = type.is_float() ? ir::constant(type, attributes.value) : ir::constant(type, attributes.integer);
  return ops::pad(inputs[0], sizes_of(attributes.before, size), sizes_of(attributes.after, size), name, value);
}

lang::Tensor gathered(const DimensionAttributes& attributes, const Inputs& inputs, const std::string& name) {
  const lang::Tensor &x = inputs[0], &indices = inputs[1];
  const auto before = static_cast<std::ptrdiff_t>(attributes.dimension);
  const auto rank = static_cast<std::ptrdiff_t>(indices.rank());
  std::vector<Expr> shape(x.shape().begin(), x.shape().begin() + before);
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), x.shape().begin() + before + 1, x.shape().end());
  return lang::library::compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) {
        const Expr index = ir::cast(DType::i64, indices({i.begin() + before, i.begin() + before + rank}));
        const Expr& size = x.shape()[attributes.dimension];
        std::vector<Expr> at(i.begin(), i.begin() + before);
        at.push_back(ir::select(index < 0, index + size, index));
        at.insert(at.end(), i.begin() + before + rank, i.end());
        return x(at);
      },
      name);
}

lang::Tensor scattered(const ScatterAttributes& attributes, const Inputs& inputs, const std::string& name) {
  const auto mode = [&] {
    switch (attributes.mode) {
      case ScatterMode::replace: return ops::ScatterMode::replace;
      case ScatterMode::add: return ops::ScatterMode::add;
      case ScatterMode::mul: return ops::ScatterMode::mul;
      case ScatterMode::minimum: return ops::ScatterMode::minimum;
      case ScatterMode::maximum: return ops::ScatterMode::maximum;
    }
    throw InternalError("scattered: unknown mode");
  };
  return ops::scatter(inputs[0], inputs[1], inputs[2], attributes.dimension, mode(), name);
}

lang::Tensor listed(const SizesAttributes& attributes, const SizeExpr& size, const std::string& name) {
  const std::vector<Expr> elements = sizes_of(attributes.elements, size);
  return lang::library::compute(
      {static_cast<std::int64_t>(elements.size())},
      [&](const std::vector<Expr>& i) { return element_at(elements, 0, i[0]); }, name);
}

lang::Tensor counting(const IotaAttributes& attributes, const SizeExpr& size, const std::string& name) {
  return lang::library::compute({size(attributes.count)}, [](const std::vector<Expr>& i) { return i[0]; }, name);
}

}  // namespace ferry::graph
