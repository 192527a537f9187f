// Which variables of a program are sizes.
#pragma once

#include "ferry/lang/program.h"

#include <unordered_set>

namespace ferry::lang {

// Returns the variables in the shapes of tensors and in the ranges of reductions. All others of the program are data
// (analysis/wrapping.h).
std::unordered_set<const ir::ExprNode*> sizes_of(const Program& program);

}  // namespace ferry::lang
