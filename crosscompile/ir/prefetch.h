// A hint that an element will be read soon: the statement `prefetch(A[i, j]);`, an Evaluate of a Call. It
// reads nothing, so the element need not exist; the indices must not read memory either.
#pragma once

#include "crosscompile/ir/stmt.h"

namespace ferry::ir {

Stmt make_prefetch(const Expr& load);
// Returns the load of a prefetch; null for any other statement.
const Load* prefetched(const Evaluate& statement);

}  // namespace ferry::ir
