// Emits the prefetches that a schedule asks for.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "host/lower/nest.h"

namespace ferry::lower {

// Returns the body of that loop of the nest, preceded by the prefetches that the schedule asks for there. `nests` say
// how tensors are stored.
ir::Stmt with_prefetches(const Nests& nests, const Nest& nest, std::size_t loop, ir::Stmt body);

}  // namespace ferry::lower
