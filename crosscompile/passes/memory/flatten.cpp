#include "crosscompile/passes/memory/flatten.h"

#include "crosscompile/analysis/modulus.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/passes/memory/swizzle.h"
#include "crosscompile/passes/simplify/alignment.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "crosscompile/passes/vector/lanes.h"
#include "ferry/operators.h"

#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

}  // namespace

Expr linear_index(const Buffer& buffer, const std::vector<Expr>& indices) {
  const bool already_flat = indices.size() != buffer.shape.size();
  if (already_flat) return indices[0];
  Expr flat = 0;
  Expr dense_stride = 1;
  for (std::size_t d = indices.size(); d-- > 0;) {
    const Expr& stride = buffer.strides.empty() ? dense_stride : buffer.strides[d];
    flat = lane_binary(BinaryOp::add, lane_binary(BinaryOp::mul, indices[d], stride), flat);
    if (buffer.strides.empty() && d > 0) dense_stride = dense_stride * buffer.shape[d];
  }
  return flat;
}

namespace {

class Flattener : public Mutator {
 protected:
  using Mutator::mutate_node;

  Expr mutate_node(const Load& node, const Expr&) override {
    return Load::make(node.buffer, {position(*node.buffer, mutate_all(node.indices))}, mutate(node.mask));
  }

  Stmt mutate_node(const Store& node, const Stmt&) override {
    return Store::make(node.buffer, {position(*node.buffer, mutate_all(node.indices))}, mutate(node.value),
                       mutate(node.mask));
  }

  Stmt mutate_node(const For& node, const Stmt& self) override {
    const For* outer = std::exchange(lanes_, node.for_kind == ForKind::vectorized ? &node : lanes_);
    Stmt result = Mutator::mutate_node(node, self);
    lanes_ = outer;
    return result;
  }

 private:
  Expr position(const Buffer& buffer, const std::vector<Expr>& indices) const {
    const Expr plain = linear_index(buffer, indices);
    if (!buffer.storage.swizzled) return plain;
    // A vector that stays within a piece keeps its elements consecutive.
    const std::int64_t piece = swizzled_piece(buffer);
    if (const auto* ramp = plain.as<Ramp>(); ramp != nullptr && is_constant(ramp->stride, 1)) {
      const auto lanes = static_cast<std::int64_t>(ramp->type.lanes);
      if (piece % lanes == 0 && analysis::is_multiple(simplify(ramp->base), lanes))
        return Ramp::make(swizzled(buffer, ramp->base), ramp->stride, ramp->type.lanes);
    }
    if (plain.type().is_vector()) return swizzled_lanes(buffer, plain);
    const std::int64_t* lanes = lanes_ == nullptr ? nullptr : as_int(lanes_->extent);
    if (lanes != nullptr && *lanes > 0 && piece % *lanes == 0 && is_constant(lanes_->min, 0)) {
      if (const auto begin = aligned_begin(simplify(plain), lanes_->var, *lanes))
        return swizzled(buffer, *begin) + lanes_->var;
    }
    return swizzled(buffer, plain);
  }

  // Swizzles each lane by itself, with a variable in the place of the position.
  static Expr swizzled_lanes(const Buffer& buffer, const Expr& positions) {
    const Expr one = Var::make("position");
    return on_lanes(swizzled(buffer, one), one, positions);
  }
  static Expr on_lanes(const Expr& expr, const Expr& var, const Expr& positions) {
    if (expr.same_as(var)) return positions;
    const auto* binary = expr.as<Binary>();
    return binary == nullptr ? expr
                             : lane_binary(binary->op, on_lanes(binary->left, var, positions),
                                           on_lanes(binary->right, var, positions));
  }

  std::vector<Expr> mutate_all(const std::vector<Expr>& exprs) {
    std::vector<Expr> result;
    for (const Expr& expr : exprs) result.push_back(mutate(expr));
    return result;
  }

  const For* lanes_ = nullptr;  // the enclosing vectorized loop
};

}  // namespace

Function flatten(Function function) {
  function.body = Flattener().mutate(function.body);
  function.flat = true;
  return function;
}

}  // namespace ferry::passes
