// Replaces calls of the user's intrinsics by what their rules say.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/intrinsics.h"

namespace ferry::passes {

// Replaces the calls of function.context's intrinsics by the results of their rules; does nothing without a context.
// Throws CompileError when no rule fits the target, or a rule's result has another type.
//
// Requires explicit vectors, so that a rule sees the number of lanes. Runs before legalize_floats and lower_math, which
// lower what the rules use.
ir::Function lower_intrinsics(ir::Function function, const Target& target);

// Does the same in one expression, for code that evaluates definitions.
ir::Expr lower_intrinsics(const ir::Expr& expr, const Context& context, const Target& target);

// Returns whether the rules of an intrinsic lower calls of it: of the intrinsic itself, or of the function of math.def
// with its name.
inline bool lowers(const Context& context, const ir::Callee& callee) {
  return (callee.op == ir::CallOp::intrinsic || callee.op == ir::CallOp::math) && context.knows(to_text(callee));
}
// Lowers one such call, other intrinsics inside the result included.
ir::Expr lower(const Context& context, const ir::Call& call, const Target& target);

}  // namespace ferry::passes
