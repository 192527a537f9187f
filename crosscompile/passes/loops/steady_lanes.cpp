#include "crosscompile/passes/loops/steady_lanes.h"

#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/loops/guard_bounds.h"
#include "ferry/operators.h"

#include <algorithm>

namespace ferry::passes {

using namespace ir;

std::optional<SteadyLanes> find_steady_lanes(const For& loop, const std::vector<Guard>& guards,
                                             Assumptions& assumptions, const Target& target) {
  const std::int64_t* lanes = as_int(loop.extent);
  if (lanes == nullptr) return std::nullopt;
  SteadyLanes steady{0, *lanes, {}};
  for (const Guard& guard : guards) {
    const auto bounds = uses_var(guard.margin, loop.var) ? bounds_over(guard, guard.inner) : std::nullopt;
    const auto affine = bounds ? analysis::affine_in(bounds->worst, loop.var) : std::nullopt;
    if (!affine || affine->coefficient == 0) continue;
    const bool from_there_on = affine->coefficient > 0;
    const Expr lane = assumptions.simplify(position_of(*affine, assumptions) - loop.min);
    const std::int64_t* position = as_int(lane);
    // A guard that fails in most lanes is left to masks.
    if (position == nullptr || 2 * (from_there_on ? *lanes - *position : *position) <= *lanes) continue;
    if (from_there_on) {
      steady.begin = std::max(steady.begin, *position);
    } else {
      steady.end = std::min(steady.end, *position);
    }
    steady.outcomes.emplace(guard.comparison, guard.wanted);
  }
  const std::int64_t count = steady.end - steady.begin;
  if (count == *lanes || count < target.lanes(4) || 2 * count <= *lanes) return std::nullopt;
  return steady;
}

}  // namespace ferry::passes
