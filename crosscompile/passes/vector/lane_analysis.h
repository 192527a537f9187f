// Determines whether the iterations of a loop may run side by side, statement by statement, with the same results as
// one after the other.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "crosscompile/passes/simplify/assumptions.h"

#include <unordered_map>

namespace ferry::passes {

struct LaneAnalysis {
  // No iteration reads or overwrites what another one writes, apart from the reductions below.
  bool independent = false;
  // Stores of the form element = element op value, to an element that all iterations share.
  std::unordered_map<const ir::StmtNode*, ir::ReduceOp> reductions;
};

// Analyses a loop over `var` with this body; `assumptions` describes the place of the loop. Buffers allocated in the
// body are private to each iteration.
LaneAnalysis analyze_lanes(const ir::Stmt& body, const ir::Expr& var, Assumptions& assumptions);

// Returns the value that a reduction store combines with its element.
const ir::Expr& reduced_value(const ir::Store& store);

}  // namespace ferry::passes
