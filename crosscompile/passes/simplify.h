// Constant folding, linear arithmetic over integers, and what is known from the ranges of loop variables and the
// conditions around a place. Sizes are assumed non-negative. Never changes a float result.
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
