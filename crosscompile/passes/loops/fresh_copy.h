// Makes a copy of a statement that can stand next to the original: a variable is defined only once in a function, so
// whatever the copy defines (loops, lets, allocations) gets new nodes of the same name.
#pragma once

#include "crosscompile/ir/substitute.h"

namespace ferry::passes {

// Replaces the free variables listed in `values`, also in the shapes of allocated buffers.
ir::Stmt fresh_copy(const ir::Stmt& stmt, ir::Substitution values = {});

}  // namespace ferry::passes
