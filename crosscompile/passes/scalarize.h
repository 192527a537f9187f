// Makes what a language without vectors can say: each vector statement becomes a loop over its lanes, and vectors that
// meet inside an expression (VectorReduce, "dot") are written out. Prefetches go, and so do lets that nobody uses and
// comparisons whose outcome a type decides.
//
// Before: flat indices, since lanes of an address are told apart; stands last, for targets with is_source alone, so
// that what a printed kernel is given (launches.h) is what it uses. After: every expression is a scalar; the loops over
// lanes are of ForKind::vectorized.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function scalarize(ir::Function function);

}  // namespace ferry::passes
