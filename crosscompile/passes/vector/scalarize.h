// Lowers vectors for languages without them: each vector statement becomes a loop over its lanes, and vector
// expressions with scalar results (VectorReduce, CallOp::dot) are written out. Removes prefetches, unused lets and
// comparisons whose outcome follows from a type.
//
// Requires flat indices, from which lanes of an address are extracted. Runs last, only for targets with
// PassGroups::scalarize, so that the parameters of a printed kernel (passes/gpu/extract_kernels.h) are those it uses.
// Afterwards every expression is a scalar; the loops over lanes are of ForKind::vectorized.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function scalarize(ir::Function function);

}  // namespace ferry::passes
