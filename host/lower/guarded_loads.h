// Conditions around statements and around loads.
#pragma once

#include "crosscompile/ir/stmt.h"

#include <functional>
#include <vector>

namespace ferry::lower {

// Returns `body` under all guards. Both sides of && are evaluated, so a guard that loads stands in an If of its own,
// inside of the guards before it: they may keep its indices in bounds.
ir::Stmt guarded(const std::vector<ir::Expr>& guards, ir::Stmt body);

// Returns the expression in which every load whose indices use one of the guard's variables is replaced by 0 where the
// guard fails, unless its elements `exist` anyway. This is for lanes whose result is not used: they may compute
// anything, but must not read out of bounds.
ir::Expr guard_loads(const ir::Expr& expr, const ir::Expr& guard, const std::function<bool(const ir::Load&)>& exist);

}  // namespace ferry::lower
