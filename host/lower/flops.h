// Counts a program's useful arithmetic operations, for reporting GFLOP/s.
#pragma once

#include "ferry/lang/program.h"

namespace ferry::lower {

// Counts operations on data (not indices) over all points of all stages, as an expression over the program's symbols: a
// multiply-add counts two, a math function one, a comparison, conversion or copy none.
ir::Expr count_flops(const lang::Program& program);

}  // namespace ferry::lower
