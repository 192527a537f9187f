// What `prefetch` asks for in the iterations of a loop.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "host/lower/nest.h"

namespace ferry::lower {

// The body of that loop of the nest, after the prefetches that the schedule wants there.
ir::Stmt with_prefetches(const Nest& nest, std::size_t loop, ir::Stmt body);

}  // namespace ferry::lower
