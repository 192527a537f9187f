// Live ranges of the allocated buffers of a function.
#pragma once

#include "crosscompile/ir/function.h"

#include <vector>

namespace ferry::passes {

// Statements are numbered in program order. [first, last] covers every access, and the whole of any loop between the
// allocation and the access, since the next iteration may need what this one wrote.
struct LiveBuffer {
  const ir::Allocate* allocation = nullptr;
  bool in_parallel_loop = false;
  std::int64_t first = 0;
  std::int64_t last = -1;  // below first: never used
  // An upper bound of the size for all iterations of the enclosing loops, over variables defined outside of the body.
  ir::Expr bytes;
};

bool overlap(const LiveBuffer& a, const LiveBuffer& b);

// Returns the buffers of Scope::global, in the order of their allocations. Throws InternalError when a size has no
// bound outside of the loops around it.
std::vector<LiveBuffer> find_live_buffers(const ir::Function& function);

}  // namespace ferry::passes
