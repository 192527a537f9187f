// Counts the nodes of a piece of IR, to tell which of two expressions is simpler and to bound how much code passes that
// copy it may add.
#pragma once

#include "crosscompile/ir/expr.h"
#include "crosscompile/ir/stmt.h"

#include <cstddef>

namespace ferry::analysis {

std::size_t count_nodes(const ir::Expr& expr);
std::size_t count_nodes(const ir::Stmt& stmt);

}  // namespace ferry::analysis
