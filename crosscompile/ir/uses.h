// Finds what a part of a tree uses, and what kinds of nodes it consists of.
#pragma once

#include "crosscompile/ir/stmt.h"

#include <initializer_list>
#include <vector>

namespace ferry::ir {

// Returns the buffers that are read or written and not allocated inside, in order of first use. For variables see
// free_vars (substitute.h).
std::vector<BufferRef> used_buffers(const Stmt& stmt);
// Returns those of them that are written.
std::vector<BufferRef> stored_buffers(const Stmt& stmt);

// Returns whether any node of the expression is of one of these kinds.
bool contains(const Expr& expr, std::initializer_list<ExprKind> kinds);

}  // namespace ferry::ir
