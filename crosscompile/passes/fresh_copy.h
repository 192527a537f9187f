// A second copy of a statement beside the first: a variable is defined only once in a function, so whatever the copy
// defines (loops, lets, allocations) gets new nodes of the same name.
#pragma once

#include "crosscompile/ir/substitute.h"

namespace ferry::passes {

// Free variables listed in `values` are replaced, also in the shapes of allocated buffers.
ir::Stmt fresh_copy(const ir::Stmt& stmt, ir::Substitution values = {});

}  // namespace ferry::passes
