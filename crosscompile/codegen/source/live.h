// What a statement uses of the function around it.
#pragma once

#include "crosscompile/codegen/source/names.h"
#include "crosscompile/ir/stmt.h"

#include <vector>

namespace ferry::codegen::source {

// In order of first use, so that the same input makes the same text.
struct LiveNames {
  std::vector<const ir::Buffer*> buffers;
  std::vector<ir::Expr> variables;
};

// Of those that `names` knows; of all when it is null.
LiveNames live_names(const ir::Stmt& stmt, const Names* names);

}  // namespace ferry::codegen::source
