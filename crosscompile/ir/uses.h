// What a part of a tree uses, and what kinds of nodes it is made of.
#pragma once

#include "crosscompile/ir/stmt.h"

#include <initializer_list>
#include <vector>

namespace ferry::ir {

// Buffers that are read or written and not allocated inside, in order of first use. Variables: free_vars
// (substitute.h).
std::vector<BufferRef> used_buffers(const Stmt& stmt);
// Those of them that are written.
std::vector<BufferRef> stored_buffers(const Stmt& stmt);

// Whether any node of the expression is of one of these kinds.
bool contains(const Expr& expr, std::initializer_list<NodeKind> kinds);

}  // namespace ferry::ir
