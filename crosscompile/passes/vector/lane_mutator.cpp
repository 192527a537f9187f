#include "crosscompile/passes/vector/lane_mutator.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/passes/loops/fresh_copy.h"
#include "crosscompile/passes/vector/lane_scope.h"
#include "crosscompile/passes/vector/lanes.h"
#include "ferry/operators.h"

#include <string>
#include <utility>

// Statements; expressions are in lane_exprs.cpp.
namespace ferry::passes {

using namespace ir;

namespace {

// Redirects the accesses of one iteration to its private buffers, inside a serial loop over the lanes.
class OneLane : public Mutator {
 public:
  using Wide = std::unordered_map<const Buffer*, BufferRef>;
  OneLane(const Wide& wide, Expr lane) : wide_(wide), lane_(std::move(lane)) {}

 protected:
  using Mutator::mutate_node;

  Expr mutate_node(const Load& node, const Expr& self) override {
    const Expr changed = Mutator::mutate_node(node, self);
    const auto found = wide_.find(node.buffer.get());
    if (found == wide_.end()) return changed;
    const auto& load = *changed.as<Load>();
    return Load::make(found->second, with_lane(load.indices), load.mask);
  }

  Stmt mutate_node(const Store& node, const Stmt& self) override {
    const Stmt changed = Mutator::mutate_node(node, self);
    const auto found = wide_.find(node.buffer.get());
    if (found == wide_.end()) return changed;
    const auto& store = *changed.as<Store>();
    return Store::make(found->second, with_lane(store.indices), store.value, store.mask);
  }

 private:
  std::vector<Expr> with_lane(std::vector<Expr> indices) const {
    // The other indices are vectors where there is an inner vectorized loop.
    indices.push_back(widen(lane_, lanes_of(indices)));
    return indices;
  }

  const Wide& wide_;
  Expr lane_;
};

}  // namespace

LaneMutator::LaneMutator(const Target& target, const std::unordered_set<const Buffer*>& inputs, LaneLoop loop,
                         LaneAnalysis analysis, Assumptions& assumptions)
    : target_(target),
      inputs_(inputs),
      loop_(std::move(loop)),
      analysis_(std::move(analysis)),
      assumptions_(assumptions) {
  vectors_[loop_.var.get()] = Ramp::make(loop_.min, 1, loop_.lanes);
}

Stmt LaneMutator::vectorize(const Stmt& body) { return or_scalar(body); }

// Under a mask or a let of vectors, a single lane could not be executed from here, so an enclosing statement becomes
// the scalar loop.
Stmt LaneMutator::or_scalar(const Stmt& stmt) {
  if (mask_.defined() || vector_lets_ > 0) return mutate(stmt);
  try {
    return mutate(stmt);
  } catch (const NoVectorForm&) {
    return scalar_loop(stmt);
  }
}

Stmt LaneMutator::scalar_loop(const Stmt& stmt) {
  const Expr var = Var::make(loop_.var.as<Var>()->name);
  OneLane::Wide wide;
  for (const auto& [buffer, own] : private_) wide[buffer] = own.wide;
  Stmt body = OneLane(wide, loop_.var - loop_.min).mutate(stmt);
  return For::make(var, loop_.min, Expr(std::int64_t{loop_.lanes}), ForKind::serial,
                   fresh_copy(body, {{loop_.var.get(), var}}));
}

Stmt LaneMutator::mutate_node(const Store& node, const Stmt&) {
  if (const auto found = analysis_.reductions.find(&node); found != analysis_.reductions.end())
    return reduce(node, found->second);
  const Private* own = find_private(node.buffer);
  if (node.mask) throw NoVectorForm{};
  std::vector<Expr> indices;
  if (own != nullptr) {
    indices = private_indices(node.indices);
  } else {
    for (const Expr& index : node.indices) indices.push_back(mutate(index));
    if (lanes_of(indices) != loop_.lanes) throw NoVectorForm{};
    indices = widen_all(std::move(indices), loop_.lanes);
  }
  const Expr mask = own != nullptr && mask_.same_as(own->mask) ? Expr{} : mask_;
  if (mask.defined() && !target_.capabilities.masks && node.buffer->scope != Scope::local) throw NoVectorForm{};
  return Store::make(own != nullptr ? own->wide : node.buffer, std::move(indices),
                     widen(mutate(node.value), loop_.lanes), mask);
}

// Makes element = element op (the lanes' combined values). Inactive lanes contribute the identity; when no lane is
// active, the element is not accessed, since it may not even exist.
Stmt LaneMutator::reduce(const Store& node, ReduceOp op) {
  std::vector<Expr> indices;
  for (const Expr& index : node.indices) indices.push_back(mutate(index));
  Expr value = widen(mutate(reduced_value(node)), loop_.lanes);
  if (mask_) value = Select::make(mask_, value, widen(identity_of(op, value.type().element()), loop_.lanes));
  const Expr element = Load::make(node.buffer, indices);
  const BinaryOp combine = node.value.as<Binary>()->op;
  Stmt store = Store::make(node.buffer, indices, Binary::make(combine, element, VectorReduce::make(op, value)));
  return mask_ ? If::make(VectorReduce::make(ReduceOp::any, mask_), std::move(store)) : store;
}

Stmt LaneMutator::mutate_node(const For& node, const Stmt& self) {
  const Expr min = mutate(node.min);
  const Expr extent = mutate(node.extent);
  // The range differs between lanes.
  if (min.type().is_vector() || extent.type().is_vector()) throw NoVectorForm{};
  const Assumptions::Loop in_loop(assumptions_, node.var, node.min, node.extent);
  Stmt body = or_scalar(node.body);
  if (min.same_as(node.min) && extent.same_as(node.extent) && body.same_as(node.body)) return self;
  return body ? For::make(node.var, min, extent, node.for_kind, std::move(body)) : Stmt{};
}

Stmt LaneMutator::mutate_node(const Block& node, const Stmt&) {
  std::vector<Stmt> body;
  for (const Stmt& stmt : node.body) body.push_back(or_scalar(stmt));
  std::erase_if(body, [](const Stmt& stmt) { return !stmt; });
  return body.empty() ? Stmt{} : Block::make(std::move(body));
}

Stmt LaneMutator::mutate_node(const If& node, const Stmt& self) {
  // The part of the condition that is the same for all lanes is tested once, outside of the mask.
  Expr same, differing;
  std::vector<Expr> shared;
  const bool may_split = !node.on_false.defined() && analysis::is_arithmetic(node.condition);
  for (const Expr& part : may_split ? conjuncts(node.condition) : std::vector<Expr>{node.condition}) {
    const Expr condition = mutate(part);
    if (condition.type().is_scalar()) shared.push_back(part);
    Expr& all = condition.type().is_scalar() ? same : differing;
    all = all ? all && condition : condition;
  }
  if (!differing.defined())
    return rewrite_sides(node, self, same, assumptions_, [this](const Stmt& side) { return or_scalar(side); });
  // The condition is computed once, before the statements under it can change the values that it reads.
  const Expr chosen = Var::make("mask", differing.type());
  std::vector<Stmt> parts;
  {
    const Assumptions::ScopedAssumption holds(assumptions_, shared);
    parts.push_back(masked(node.on_true, chosen));
    if (node.on_false) parts.push_back(masked(node.on_false, !chosen));
  }
  std::erase_if(parts, [](const Stmt& stmt) { return !stmt; });
  if (parts.empty()) return {};
  Stmt result = LetStmt::make(chosen, differing, Block::make(std::move(parts)));
  return same ? If::make(same, std::move(result)) : result;
}

Stmt LaneMutator::masked(const Stmt& stmt, const Expr& mask) {
  const Scoped<Expr> under(mask_, combined_with(mask));
  return mutate(stmt);
}

Stmt LaneMutator::mutate_node(const Allocate& node, const Stmt&) {
  auto wide = std::make_shared<Buffer>(*node.buffer);
  for (Expr& extent : wide->shape) {
    extent = mutate(extent);
    if (extent.type().is_vector()) throw NoVectorForm{};
  }
  if (!wide->strides.empty()) throw NoVectorForm{};
  wide->shape.emplace_back(std::int64_t{loop_.lanes});
  auto with_it = private_;
  with_it[node.buffer.get()] = {wide, mask_};
  const Scoped scope(private_, std::move(with_it));
  Stmt body = or_scalar(node.body);
  return body ? Allocate::make(wide, std::move(body)) : Stmt{};
}

Stmt LaneMutator::mutate_node(const LetStmt& node, const Stmt& self) {
  const Expr value = mutate(node.value);
  if (value.type() == node.var.type()) {
    Stmt body = or_scalar(node.body);
    if (value.same_as(node.value) && body.same_as(node.body)) return self;
    return body ? LetStmt::make(node.var, value, std::move(body)) : Stmt{};
  }
  const Scoped<std::size_t> one_more(vector_lets_, vector_lets_ + 1);
  const std::string& name = node.var.as<Var>()->name;
  // Address arithmetic sees through the variable only as long as it stays a Ramp.
  if (const auto* ramp = value.as<Ramp>()) {
    const Expr base = Var::make(name, ramp->base.type());
    vectors_[node.var.get()] = Ramp::make(base, ramp->stride, loop_.lanes);
    Stmt body = mutate(node.body);
    return body ? LetStmt::make(base, ramp->base, std::move(body)) : Stmt{};
  }
  const Expr var = Var::make(name, value.type());
  vectors_[node.var.get()] = var;
  Stmt body = mutate(node.body);
  return body ? LetStmt::make(var, value, std::move(body)) : Stmt{};
}

Stmt LaneMutator::mutate_node(const Assert& node, const Stmt& self) {
  Expr condition = mutate(node.condition);
  if (condition.same_as(node.condition) && !mask_.defined()) return self;
  if (mask_) condition = lane_binary(BinaryOp::logical_or, widen(condition, loop_.lanes), !mask_);
  if (condition.type().is_vector()) condition = VectorReduce::make(ReduceOp::all, condition);
  return Assert::make(condition, node.message);
}

// The side effect must happen once per lane.
Stmt LaneMutator::mutate_node(const Evaluate&, const Stmt&) { throw NoVectorForm{}; }

}  // namespace ferry::passes
