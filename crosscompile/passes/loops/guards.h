// Finds the comparisons in conditions whose outcome would remove the condition. partition_loops finds the tests of a
// loop's body here, and removes them from copies where their outcome is certain.
#pragma once

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/stmt.h"
#include "crosscompile/passes/simplify/assumptions.h"

#include <unordered_map>
#include <vector>

namespace ferry::passes {

// A comparison of indices inside the condition of an If, an IfThenElse or a Select.
struct Guard {
  const ir::ExprNode* comparison = nullptr;
  bool wanted = true;                  // outcome in the common case: true in a && b, false in a || b
  ir::Expr margin;                     // at least 0 exactly when the outcome is the wanted one
  std::vector<analysis::Range> inner;  // loops around the comparison that the margin depends on, outermost first
  bool chooses = false;                // part of a Select, which computes both sides: it guards no access
};

// Finds all guards in `stmt`. Comparisons whose margin depends on memory or on a value that is defined inside, or may
// wrap (analysis/wrapping.h), are left out. `assumptions` describes the place of the statement; it helps to prove that
// != can fail on only one side.
std::vector<Guard> find_guards(const ir::Stmt& stmt, Assumptions& assumptions);

// Finds the guards of one condition.
std::vector<Guard> find_guards(const ir::Expr& condition, Assumptions& assumptions);

// Known outcomes by comparison.
using Outcomes = std::unordered_map<const ir::ExprNode*, bool>;

// Returns the statement with these comparisons replaced by their outcomes and the conditions that they decide removed;
// may be nothing.
ir::Stmt assume(const ir::Stmt& stmt, const Outcomes& outcomes);
ir::Expr assume(const ir::Expr& expr, const Outcomes& outcomes);

// Whether the body is an If with this very test.
bool tests_first(const ir::Stmt& body, const Guard& guard, Assumptions& assumptions);

}  // namespace ferry::passes
