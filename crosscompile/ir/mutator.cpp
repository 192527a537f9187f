#include "crosscompile/ir/mutator.h"

#include "crosscompile/ir/error.h"

namespace ferry::ir {
namespace {

// Mutates each expression, and returns whether any changed.
bool mutate_all(Mutator& mutator, const std::vector<Expr>& before, std::vector<Expr>& after) {
  bool changed = false;
  after.reserve(before.size());
  for (const Expr& expr : before) {
    after.push_back(mutator.mutate(expr));
    changed |= !after.back().same_as(expr);
  }
  return changed;
}

template <class Choice>
Expr mutate_choice(Mutator& mutator, const Choice& node, const Expr& self) {
  Expr condition = mutator.mutate(node.condition);
  Expr on_true = mutator.mutate(node.on_true);
  Expr on_false = mutator.mutate(node.on_false);
  if (condition.same_as(node.condition) && on_true.same_as(node.on_true) && on_false.same_as(node.on_false))
    return self;
  return Choice::make(std::move(condition), std::move(on_true), std::move(on_false));
}

}  // namespace

Expr Mutator::mutate(const Expr& expr) {
  if (!expr) return expr;
  switch (expr.kind()) {
#define FERRY_CASE(name) \
  case ExprKind::name: return mutate_node(static_cast<const name&>(*expr.get()), expr);
    FERRY_IR_EXPRS(FERRY_CASE)
#undef FERRY_CASE
  }
  throw InternalError("mutate: an unknown kind of expression");
}

Stmt Mutator::mutate(const Stmt& stmt) {
  if (!stmt) return stmt;
  switch (stmt.kind()) {
#define FERRY_CASE(name) \
  case StmtKind::name: return mutate_node(static_cast<const name&>(*stmt.get()), stmt);
    FERRY_IR_STMTS(FERRY_CASE)
#undef FERRY_CASE
  }
  throw InternalError("mutate: an unknown kind of statement");
}

Expr Mutator::mutate_node(const IntImm&, const Expr& self) { return self; }
Expr Mutator::mutate_node(const FloatImm&, const Expr& self) { return self; }
Expr Mutator::mutate_node(const Var&, const Expr& self) { return self; }

Expr Mutator::mutate_node(const Cast& node, const Expr& self) {
  Expr value = mutate(node.value);
  return value.same_as(node.value) ? self : Cast::make(node.type.code, std::move(value));
}

Expr Mutator::mutate_node(const Unary& node, const Expr& self) {
  Expr value = mutate(node.value);
  return value.same_as(node.value) ? self : Unary::make(node.op, std::move(value));
}

Expr Mutator::mutate_node(const Binary& node, const Expr& self) {
  Expr left = mutate(node.left);
  Expr right = mutate(node.right);
  if (left.same_as(node.left) && right.same_as(node.right)) return self;
  return Binary::make(node.op, std::move(left), std::move(right));
}

Expr Mutator::mutate_node(const Select& node, const Expr& self) { return mutate_choice(*this, node, self); }
Expr Mutator::mutate_node(const IfThenElse& node, const Expr& self) { return mutate_choice(*this, node, self); }

Expr Mutator::mutate_node(const Load& node, const Expr& self) {
  BufferRef buffer = mutate_buffer(node.buffer);
  std::vector<Expr> indices;
  const bool changed = mutate_all(*this, node.indices, indices);
  Expr mask = mutate(node.mask);
  if (!changed && buffer == node.buffer && mask.same_as(node.mask)) return self;
  return Load::make(std::move(buffer), std::move(indices), std::move(mask));
}

Expr Mutator::mutate_node(const Call& node, const Expr& self) {
  std::vector<Expr> arguments;
  if (!mutate_all(*this, node.arguments, arguments)) return self;
  // Passes that change the number of lanes do so in the arguments.
  const std::uint32_t lanes = arguments.empty() ? node.type.lanes : arguments[0].type().lanes;
  return Call::make(node.type.with_lanes(lanes), node.callee, std::move(arguments));
}

Expr Mutator::mutate_node(const Reduce& node, const Expr& self) {
  bool changed = false;
  std::vector<Axis> axes;
  axes.reserve(node.axes.size());
  for (const Axis& axis : node.axes) {
    axes.push_back({axis.var, mutate(axis.min), mutate(axis.extent)});
    changed |= !axes.back().min.same_as(axis.min) || !axes.back().extent.same_as(axis.extent);
  }
  Expr condition = mutate(node.condition);
  std::vector<Expr> sources, init;
  changed |= mutate_all(*this, node.sources, sources);
  changed |= mutate_all(*this, node.init, init);
  if (!changed && condition.same_as(node.condition)) return self;
  return Reduce::make(node.reducer, std::move(sources), std::move(axes), std::move(condition), std::move(init),
                      node.component);
}

Expr Mutator::mutate_node(const Let& node, const Expr& self) {
  Expr value = mutate(node.value);
  Expr body = mutate(node.body);
  if (value.same_as(node.value) && body.same_as(node.body)) return self;
  return Let::make(node.var, std::move(value), std::move(body));
}

Expr Mutator::mutate_node(const Ramp& node, const Expr& self) {
  Expr base = mutate(node.base);
  Expr stride = mutate(node.stride);
  if (base.same_as(node.base) && stride.same_as(node.stride)) return self;
  return Ramp::make(std::move(base), std::move(stride), node.type.lanes);
}

Expr Mutator::mutate_node(const Broadcast& node, const Expr& self) {
  Expr value = mutate(node.value);
  return value.same_as(node.value) ? self : Broadcast::make(std::move(value), node.type.lanes);
}

Expr Mutator::mutate_node(const VectorReduce& node, const Expr& self) {
  Expr value = mutate(node.value);
  return value.same_as(node.value) ? self : VectorReduce::make(node.op, std::move(value));
}

Stmt Mutator::mutate_node(const Store& node, const Stmt& self) {
  BufferRef buffer = mutate_buffer(node.buffer);
  std::vector<Expr> indices;
  const bool changed = mutate_all(*this, node.indices, indices);
  Expr value = mutate(node.value);
  Expr mask = mutate(node.mask);
  if (!changed && buffer == node.buffer && value.same_as(node.value) && mask.same_as(node.mask)) return self;
  return Store::make(std::move(buffer), std::move(indices), std::move(value), std::move(mask));
}

Stmt Mutator::mutate_node(const For& node, const Stmt& self) {
  Expr min = mutate(node.min);
  Expr extent = mutate(node.extent);
  Stmt body = mutate(node.body);
  if (!body) return {};
  if (min.same_as(node.min) && extent.same_as(node.extent) && body.same_as(node.body)) return self;
  return For::make(node.var, std::move(min), std::move(extent), node.for_kind, std::move(body));
}

Stmt Mutator::mutate_node(const Block& node, const Stmt& self) {
  bool changed = false;
  std::vector<Stmt> body;
  body.reserve(node.body.size());
  for (const Stmt& stmt : node.body) {
    Stmt after = mutate(stmt);
    changed |= !after.same_as(stmt);
    if (after) body.push_back(std::move(after));
  }
  if (!changed) return self;
  return body.empty() ? Stmt{} : Block::make(std::move(body));
}

Stmt Mutator::mutate_node(const If& node, const Stmt& self) {
  Expr condition = mutate(node.condition);
  Stmt on_true = mutate(node.on_true);
  Stmt on_false = mutate(node.on_false);
  if (condition.same_as(node.condition) && on_true.same_as(node.on_true) && on_false.same_as(node.on_false))
    return self;
  if (on_true) return If::make(std::move(condition), std::move(on_true), std::move(on_false));
  return on_false ? If::make(Unary::make(UnaryOp::logical_not, std::move(condition)), std::move(on_false)) : Stmt{};
}

Stmt Mutator::mutate_node(const Allocate& node, const Stmt& self) {
  BufferRef buffer = mutate_buffer(node.buffer);
  Expr offset = mutate(node.offset);
  Stmt body = mutate(node.body);
  if (!body) return {};
  if (buffer == node.buffer && offset.same_as(node.offset) && body.same_as(node.body)) return self;
  return Allocate::make(std::move(buffer), std::move(body), std::move(offset), node.workspace);
}

Stmt Mutator::mutate_node(const LetStmt& node, const Stmt& self) {
  Expr value = mutate(node.value);
  Stmt body = mutate(node.body);
  if (!body) return {};
  if (value.same_as(node.value) && body.same_as(node.body)) return self;
  return LetStmt::make(node.var, std::move(value), std::move(body));
}

Stmt Mutator::mutate_node(const Assert& node, const Stmt& self) {
  Expr condition = mutate(node.condition);
  return condition.same_as(node.condition) ? self : Assert::make(std::move(condition), node.message);
}

Stmt Mutator::mutate_node(const Evaluate& node, const Stmt& self) {
  Expr value = mutate(node.value);
  return value.same_as(node.value) ? self : Evaluate::make(std::move(value));
}

Stmt Mutator::mutate_node(const InstructionStmt& node, const Stmt& self) {
  std::vector<Expr> arguments;
  const bool changed = mutate_all(*this, node.arguments, arguments);
  Stmt definition = mutate(node.definition);
  if (!definition) return {};
  if (!changed && definition.same_as(node.definition)) return self;
  return InstructionStmt::make(node.instruction, std::move(arguments), std::move(definition));
}

}  // namespace ferry::ir
