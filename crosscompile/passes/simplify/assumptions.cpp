#include "crosscompile/passes/simplify/assumptions.h"

#include "crosscompile/ir/operators.h"

namespace ferry::passes {

using namespace ir;

Assumptions::Assumptions(const Function& function) { simplifier::learn_parameters(function, simplifier_); }

bool Assumptions::proves(const Expr& condition) { return is_constant(simplify(condition), 1); }

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

}  // namespace ferry::passes
