#include "crosscompile/passes/simplify/assumptions.h"

#include "ferry/operators.h"

namespace ferry::passes {

using namespace ir;

Assumptions::Assumptions(const Function& function) { simplifier::learn_parameters(function, simplifier_); }

Assumptions::Assumptions(std::span<const Expr> facts) {
  for (const Expr& fact : facts) simplifier_.facts.assume(simplify(fact));
}

bool Assumptions::proves(const Expr& condition) { return is_constant(simplify(condition), 1); }

bool Assumptions::is_data(const Expr& var) { return simplifier_.facts.is_data(var); }

Assumptions::Let::Let(Assumptions& assumptions, const Expr& var, const Expr& value)
    : scope_(assumptions.simplifier_.facts) {
  assumptions.simplifier_.facts.define(var, assumptions.simplify(value));
}

Assumptions::Loop::Loop(Assumptions& assumptions, const Expr& var, const Expr& min, const Expr& extent)
    : scope_(assumptions.simplifier_.facts) {
  assumptions.simplifier_.facts.enter_loop(var, assumptions.simplify(min), assumptions.simplify(extent));
}

Assumptions::ScopedAssumption::ScopedAssumption(Assumptions& assumptions, const Expr& condition, bool truth)
    : scope_(assumptions.simplifier_.facts) {
  assumptions.simplifier_.facts.assume(assumptions.simplify(condition), truth);
}

Assumptions::ScopedAssumption::ScopedAssumption(Assumptions& assumptions, std::span<const Expr> conditions)
    : scope_(assumptions.simplifier_.facts) {
  for (const Expr& condition : conditions) assumptions.simplifier_.facts.assume(assumptions.simplify(condition));
}

Stmt rewrite_sides(const If& node, const Stmt& self, const Expr& condition, Assumptions& assumptions,
                   const std::function<Stmt(const Stmt&)>& rewrite) {
  Stmt on_true, on_false;
  {
    const Assumptions::ScopedAssumption holds(assumptions, node.condition);
    on_true = rewrite(node.on_true);
  }
  if (node.on_false) {
    const Assumptions::ScopedAssumption fails(assumptions, node.condition, false);
    on_false = rewrite(node.on_false);
  }
  if (condition.same_as(node.condition) && on_true.same_as(node.on_true) && on_false.same_as(node.on_false))
    return self;
  if (on_true) return If::make(condition, std::move(on_true), std::move(on_false));
  return on_false ? If::make(!condition, std::move(on_false)) : Stmt{};
}

}  // namespace ferry::passes
