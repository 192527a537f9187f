// The comparisons that conditions are made of, when knowing them would remove the condition: partition_loops finds here
// what a loop's body tests, and takes the tests out of the copies where their outcome is certain.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "crosscompile/passes/affine.h"
#include "crosscompile/passes/knowledge.h"

#include <unordered_map>
#include <vector>

namespace ferry::passes {

// A comparison of indices inside the condition of an If, an IfThenElse or a Select.
struct Guard {
  const ir::ExprNode* comparison = nullptr;
  bool wanted = true;        // the outcome with which the common case goes on: true in a && b, false in a || b
  ir::Expr margin;           // at least 0 exactly when the outcome is the wanted one
  std::vector<Range> inner;  // loops around the comparison that the margin depends on, outermost first
  bool chooses = false;      // of a Select, which computes both sides: it keeps nothing from being read or written
};

// All in `stmt`. Comparisons whose margin depends on memory or on a value that only exists inside are left out.
// `knowledge` is of the place; it helps to see that != can only fail on one side.
std::vector<Guard> find_guards(const ir::Stmt& stmt, Knowledge& knowledge);

// Those of one condition.
std::vector<Guard> find_guards(const ir::Expr& condition, Knowledge& knowledge);

// Outcomes by comparison.
using Outcomes = std::unordered_map<const ir::ExprNode*, bool>;

// The statement with these comparisons replaced and the conditions they decide removed; may be nothing.
ir::Stmt assume(const ir::Stmt& stmt, const Outcomes& outcomes);
ir::Expr assume(const ir::Expr& expr, const Outcomes& outcomes);

}  // namespace ferry::passes
