// Constant folding, linear arithmetic over integers, and reasoning with the ranges of loop variables and the enclosing
// conditions. Sizes are assumed non-negative, and index arithmetic over unknown sizes not to overflow (analysis/facts.h
// states the exact assumption). Never changes a float result.
//
// Removes loops that run once or never, implied conditions, empty blocks, unused allocations and unused lets.
// Expressions that do not become shorter are returned as the same node.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function simplify(ir::Function function);

// Simplifies a single expression or statement; nothing is known about its free variables except what `facts` (bool
// expressions) state.
ir::Expr simplify(const ir::Expr& expr, const std::vector<ir::Expr>& facts = {});
ir::Stmt simplify(const ir::Stmt& stmt, const std::vector<ir::Expr>& facts = {});
// Returns true only when the condition certainly holds.
bool can_prove(const ir::Expr& condition, const std::vector<ir::Expr>& facts = {});

}  // namespace ferry::passes
