// Loads that need no guard because the tensor that they read is padded.
#pragma once

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/expr.h"

#include <span>

namespace ferry::schedule {

// Whether the load's elements exist in every iteration of the loops, those included where the guard fails. Only
// dimensions whose indices use the guard's variables count: other guards are about the others.
bool exists_without(const ir::Expr& guard, const ir::Load& load, std::span<const analysis::Range> loops);

}  // namespace ferry::schedule
