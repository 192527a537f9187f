// When the allocated buffers of a function are needed.
#pragma once

#include "crosscompile/ir/function.h"

#include <vector>

namespace ferry::passes {

// Statements are numbered in the order they stand; [first, last] covers every access, and the whole of a loop between
// the allocation and the access, since the next iteration may need what this one wrote.
struct LiveBuffer {
  const ir::Allocate* allocation = nullptr;
  bool in_parallel_loop = false;
  std::int64_t first = 0;
  std::int64_t last = -1;  // below first: never used
  // At least as many bytes as it takes whatever loops around it do; over variables defined outside the body.
  ir::Expr bytes;
};

bool overlap(const LiveBuffer& a, const LiveBuffer& b);

// Buffers of Scope::global, in the order of their allocations. InternalError when a size has no bound outside the loops
// around it.
std::vector<LiveBuffer> find_live_buffers(const ir::Function& function);

}  // namespace ferry::passes
