// How large a function may become when its loops are split so that their parts need fewer guards.
#pragma once

#include "crosscompile/ir/function.h"

#include <cstddef>

namespace ferry::passes {

// Code for fixed sizes may grow to the nine parts of an image with borders on all sides, since nearly all of its guards
// fold away there.
struct PartitionLimits {
  std::size_t times_as_large = 8;
  std::size_t times_as_large_if_fixed = 10;
  std::size_t always_allowed = 500;  // in nodes: small functions may grow by a larger factor
};

// Returns the nodes that the function may grow to.
std::size_t most_nodes(const ir::Function& function, const PartitionLimits& limits);

}  // namespace ferry::passes
