// Constant folding, linear arithmetic over integers, and what is known from the ranges of loop variables and the
// conditions around a place. Sizes are assumed non-negative, and index arithmetic over unknown sizes not to overflow
// (simplify_facts.h says exactly what). Never changes a float result.
//
// Loops that run once or never, implied conditions, empty blocks, allocations nobody uses and unused lets go. What does
// not become shorter is returned as the very same node.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function simplify(ir::Function function);

// The same for loose pieces; nothing is known about their free variables except what `facts` (bool expressions) say.
ir::Expr simplify(const ir::Expr& expr, const std::vector<ir::Expr>& facts = {});
ir::Stmt simplify(const ir::Stmt& stmt, const std::vector<ir::Expr>& facts = {});
// True only when the condition certainly holds.
bool can_prove(const ir::Expr& condition, const std::vector<ir::Expr>& facts = {});

}  // namespace ferry::passes
