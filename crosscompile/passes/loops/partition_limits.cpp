#include "crosscompile/passes/loops/partition_limits.h"

#include "crosscompile/analysis/count_nodes.h"

#include <algorithm>

namespace ferry::passes {

std::size_t most_nodes(const ir::Function& function, const PartitionLimits& limits) {
  const bool is_fixed = function.symbols.empty();
  const std::size_t times = is_fixed ? limits.times_as_large_if_fixed : limits.times_as_large;
  return std::max(limits.always_allowed, times * analysis::count_nodes(function.body));
}

}  // namespace ferry::passes
