// Whether the iterations of a loop may run side by side, statement after statement, with the results of one after the
// other.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "crosscompile/passes/knowledge.h"

#include <unordered_map>

namespace ferry::passes {

struct LaneAnalysis {
  // No iteration reads or overwrites what another one writes, the reductions below apart.
  bool independent = false;
  // Stores element = element op value to an element that all iterations share.
  std::unordered_map<const ir::StmtNode*, ir::ReduceOp> reductions;
};

// Of a loop over `var` with this body, in which `knowledge` is of the place. Buffers allocated in the body are each
// iteration's own.
LaneAnalysis analyze_lanes(const ir::Stmt& body, const ir::Expr& var, Knowledge& knowledge);

// The value that a reduction store combines with its element.
const ir::Expr& reduced_value(const ir::Store& store);

}  // namespace ferry::passes
