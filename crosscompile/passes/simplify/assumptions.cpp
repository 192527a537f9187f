#include "crosscompile/passes/simplify/assumptions.h"

#include "crosscompile/ir/operators.h"

namespace ferry::passes {

using namespace ir;

Knowledge::Knowledge(const Function& function) { simplifier::learn_parameters(function, simplifier_); }

bool Knowledge::proves(const Expr& condition) { return is_constant(simplify(condition), 1); }

Knowledge::Loop::Loop(Knowledge& knowledge, const Expr& var, const Expr& min, const Expr& extent)
    : scope_(knowledge.simplifier_.facts) {
  knowledge.simplifier_.facts.enter_loop(var, knowledge.simplify(min), knowledge.simplify(extent));
}

Knowledge::Given::Given(Knowledge& knowledge, const Expr& condition, bool truth) : scope_(knowledge.simplifier_.facts) {
  knowledge.simplifier_.facts.assume(knowledge.simplify(condition), truth);
}

Knowledge::Given::Given(Knowledge& knowledge, std::span<const Expr> conditions) : scope_(knowledge.simplifier_.facts) {
  for (const Expr& condition : conditions) knowledge.simplifier_.facts.assume(knowledge.simplify(condition));
}

}  // namespace ferry::passes
