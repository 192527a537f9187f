// Guards loads instead of the computation that uses them.
#pragma once

#include "crosscompile/ir/expr.h"

namespace ferry::lower {

// Returns the expression in which every load whose indices use one of the guard's variables is replaced by 0 where the
// guard fails. This is for lanes whose result is not used: they may compute anything, but must not read out of bounds.
ir::Expr guard_loads(const ir::Expr& expr, const ir::Expr& guard);

}  // namespace ferry::lower
