// Puts neighbouring dots that add to the same sum into one statement, where code generation can add their products up
// before the sum (codegen/llvm/expr/dot.cpp), which is where one factor is never the least number of its type:
//
//     s[0] = dot(s[0], x0, w0)              s[0] = dot(dot(s[0], x0, w0), x1, w1)
//     s[4] = dot(s[4], x2, w0)      ->      s[4] = dot(dot(s[4], x2, w0), x3, w1)
//     s[0] = dot(s[0], x1, w1)
//     s[4] = dot(s[4], x3, w1)
//
// Stands after unroll_loops and simplify_loops, which make such statements out of loops, with constant indices.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

ir::Function merge_dots(ir::Function function);

}  // namespace ferry::passes
