#include "crosscompile/passes/vector/lane_mutator.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/zero.h"
#include "crosscompile/passes/vector/lane_scope.h"
#include "crosscompile/passes/vector/lanes.h"

#include <algorithm>
#include <utility>

// Expressions; statements are in lane_mutator.cpp.
namespace ferry::passes {

using namespace ir;

Expr LaneMutator::mutate_node(const Var& node, const Expr& self) {
  const auto found = vectors_.find(&node);
  return found == vectors_.end() ? self : found->second;
}

Expr LaneMutator::mutate_node(const Binary& node, const Expr& self) {
  const Expr left = mutate(node.left);
  const Expr right = mutate(node.right);
  if (left.same_as(node.left) && right.same_as(node.right)) return self;
  return lane_binary(node.op, left, right);
}

Expr LaneMutator::mutate_node(const Select& node, const Expr& self) {
  std::vector<Expr> parts{mutate(node.condition), mutate(node.on_true), mutate(node.on_false)};
  if (parts[0].same_as(node.condition) && parts[1].same_as(node.on_true) && parts[2].same_as(node.on_false))
    return self;
  parts = widen_all(std::move(parts), lanes_of(parts));
  return Select::make(parts[0], parts[1], parts[2]);
}

namespace {

// Returns whether the expression is a load under this mask, whose lanes outside of the mask give 0 already.
bool is_masked_load(const Expr& expr, const Expr& mask) {
  const auto* load = expr.as<Load>();
  if (load == nullptr || !load->mask.defined()) return false;
  const auto* both = load->mask.as<Binary>();
  return load->mask.same_as(mask) ||
         (both != nullptr && both->op == BinaryOp::logical_and && both->right.same_as(mask));
}

}  // namespace

// Where the condition differs between lanes, both sides are computed, with their loads under masks. The part of the
// condition that all lanes share remains a choice for all, if the other side may be duplicated.
Expr LaneMutator::mutate_node(const IfThenElse& node, const Expr& self) {
  Expr same, differing;
  const bool may_split = analysis::is_arithmetic(node.condition) && analysis::is_arithmetic(node.on_false);
  std::vector<Expr> shared;
  for (const Expr& part : may_split ? conjuncts(node.condition) : std::vector<Expr>{node.condition}) {
    const Expr condition = mutate(part);
    if (condition.type().is_scalar()) shared.push_back(part);
    Expr& all = condition.type().is_scalar() ? same : differing;
    all = all ? all && condition : condition;
  }
  Expr on_true, on_false;
  if (differing) {
    const Assumptions::ScopedAssumption holds(assumptions_, shared);
    const Expr chosen = Var::make("chosen", differing.type());
    on_true = masked(node.on_true, chosen);
    on_false = masked(node.on_false, !chosen);
    if (!is_masked_load(on_true, chosen) || !is_positive_zero(on_false))
      on_true = Select::make(chosen, widen(on_true, loop_.lanes), widen(on_false, loop_.lanes));
    on_true = Let::make(chosen, differing, on_true);
    if (!same.defined()) return on_true;
  } else {
    {
      const Assumptions::ScopedAssumption holds(assumptions_, node.condition);
      on_true = mutate(node.on_true);
    }
    const Assumptions::ScopedAssumption fails(assumptions_, node.condition, false);
    on_false = mutate(node.on_false);
    if (same.same_as(node.condition) && on_true.same_as(node.on_true) && on_false.same_as(node.on_false)) return self;
  }
  const std::uint32_t lanes = std::max(on_true.type().lanes, on_false.type().lanes);
  return IfThenElse::make(widen(same, lanes), widen(on_true, lanes), widen(on_false, lanes));
}

Expr LaneMutator::mutate_node(const Load& node, const Expr& self) {
  if (const Private* own = find_private(node.buffer)) {
    if (node.mask) throw NoVectorForm{};
    const bool needs_mask = mask_.defined() && !mask_.same_as(own->mask);
    return Load::make(own->wide, private_indices(node.indices), needs_mask ? mask_ : Expr{});
  }
  std::vector<Expr> indices;
  bool changed = false;
  for (const Expr& index : node.indices) {
    indices.push_back(mutate(index));
    changed |= !indices.back().same_as(index);
  }
  Expr mask = mutate(node.mask);
  const std::uint32_t lanes = std::max(lanes_of(indices), mask ? mask.type().lanes : 1);
  // An input may be read at any valid index, whatever the condition. In other memory the condition may also prevent
  // reads of elements that are not written yet.
  const bool always_there = inputs_.contains(node.buffer.get()) && in_bounds(*node.buffer, node.indices);
  const bool needs_mask = mask_.defined() && !always_there;
  if (lanes == 1) {
    if (mask.defined() && mask_.defined()) throw NoVectorForm{};
    const Expr load = changed || !mask.same_as(node.mask) ? Load::make(node.buffer, std::move(indices), mask) : self;
    if (!needs_mask) return load;
    return IfThenElse::make(VectorReduce::make(ReduceOp::any, mask_), load, constant(load.type(), std::int64_t{0}));
  }
  if (lanes != loop_.lanes) throw NoVectorForm{};
  if (mask) mask = widen(mask, lanes);
  if (needs_mask) mask = mask ? combined_with(mask) : mask_;
  return Load::make(node.buffer, widen_all(std::move(indices), lanes), std::move(mask));
}

Expr LaneMutator::mutate_node(const Call& node, const Expr& self) {
  std::vector<Expr> arguments;
  bool changed = false;
  for (const Expr& argument : node.arguments) {
    arguments.push_back(mutate(argument));
    changed |= !arguments.back().same_as(argument);
  }
  if (!changed) return self;
  const std::uint32_t lanes = lanes_of(arguments);
  return Call::make(node.type.with_lanes(lanes), node.callee, widen_all(std::move(arguments), lanes));
}

Expr LaneMutator::mutate_node(const Let& node, const Expr& self) {
  const Expr value = mutate(node.value);
  Expr var = node.var;
  if (value.as<Ramp>() != nullptr) {
    vectors_[node.var.get()] = value;
    return mutate(node.body);
  }
  if (value.type() != node.var.type()) {
    var = Var::make(node.var.as<Var>()->name, value.type());
    vectors_[node.var.get()] = var;
  }
  const Expr body = mutate(node.body);
  if (value.same_as(node.value) && body.same_as(node.body)) return self;
  return Let::make(var, value, body);
}

// Vector nodes belong to an inner vectorized loop. There are no vectors of vectors, and lanes of the two loops must not
// be combined in one access, even if both loops have the same number of lanes.
Expr LaneMutator::mutate_node(const Ramp&, const Expr&) { throw NoVectorForm{}; }
Expr LaneMutator::mutate_node(const Broadcast&, const Expr&) { throw NoVectorForm{}; }
Expr LaneMutator::mutate_node(const VectorReduce&, const Expr&) { throw NoVectorForm{}; }

Expr LaneMutator::masked(const Expr& expr, const Expr& mask) {
  if (analysis::is_arithmetic(expr)) return mutate(expr);
  const Scoped<Expr> under(mask_, combined_with(mask));
  return mutate(expr);
}

std::vector<Expr> LaneMutator::private_indices(const std::vector<Expr>& indices) {
  std::vector<Expr> wide;
  for (const Expr& index : indices) wide.push_back(widen(mutate(index), loop_.lanes));
  wide.push_back(Ramp::make(0, 1, loop_.lanes));
  return wide;
}

bool LaneMutator::in_bounds(const Buffer& buffer, const std::vector<Expr>& indices) {
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!assumptions_.proves(indices[d] >= 0 && indices[d] < buffer.shape[d])) return false;
  }
  return true;
}

const LaneMutator::Private* LaneMutator::find_private(const BufferRef& buffer) const {
  const auto found = private_.find(buffer.get());
  return found == private_.end() ? nullptr : &found->second;
}

Expr LaneMutator::combined_with(const Expr& mask) const { return mask_ ? mask_ && mask : mask; }

}  // namespace ferry::passes
