#include "host/schedule/stages/padded_loads.h"

#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <vector>

namespace ferry::schedule {

using namespace ir;

bool exists_without(const Expr& guard, const Load& load, std::span<const analysis::Range> loops) {
  const std::vector<Expr> guarded = free_vars(guard);
  for (std::size_t d = 0; d < load.indices.size(); ++d) {
    const Expr index = passes::simplify(load.indices[d]);
    if (std::ranges::none_of(guarded, [&](const Expr& var) { return uses_var(index, var); })) continue;
    const auto first = analysis::lower_bound(index, loops), last = analysis::upper_bound(index, loops);
    if (!first || !last || !passes::can_prove(*first >= Expr(0)) || !passes::can_prove(*last < load.buffer->shape[d]))
      return false;
  }
  return true;
}

}  // namespace ferry::schedule
