// Conditions on what is read instead of on what is computed from it.
#pragma once

#include "crosscompile/ir/expr.h"

namespace ferry::lower {

// The expression with every load whose indices use one of the guard's variables replaced by: 0 where the guard fails.
// For lanes whose result nobody asks for: they compute anything, but read nothing that does not exist.
ir::Expr guard_loads(const ir::Expr& expr, const ir::Expr& guard);

}  // namespace ferry::lower
