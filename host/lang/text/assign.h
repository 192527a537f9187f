// The operators that assign the value of a statement to its tensor.
#pragma once

#include "crosscompile/ir/expr.h"
#include "ferry/lang/tensor.h"
#include "host/lang/text/source.h"
#include "host/lang/text/syntax.h"

namespace ferry::lang {

// Returns the operator as it is written, without '!'.
const char* text_of(Assign assign);

// Throws InternalError for '=', argmax and argmin.
ir::ReduceOp reduce_op(Assign assign);

// Returns the element after one value was assigned to it.
Expr combine(Assign assign, const Expr& before, const Expr& value);

// Throws CompileError where the operator does not combine values of this type.
void check_combined(const Source& source, const StatementSyntax& statement, const Expr& value);

}  // namespace ferry::lang
