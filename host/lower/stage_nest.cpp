#include "host/lower/stage_nest.h"

#include "ferry/operators.h"
#include "host/lower/guarded_loads.h"
#include "host/lower/padded_copy.h"
#include "host/lower/reduction_nest.h"

#include <algorithm>

namespace ferry::lower {

using namespace ir;

Stmt stage_nest(const Nest& nest, const Nests& nests, const std::vector<schedule::Loop>& around,
                const LoopBody& loop_body) {
  NestLoops loops(nest, loop_body);
  if (nest.reduction() != nullptr) return reduction_nest(nest, nests, around, loops);
  std::vector<Expr> values, guards;
  for (const Expr& value : nest.values) values.push_back(loops.at_point(value));
  const std::vector<Expr> padded = padded_guards(nest, loops);
  for (const Expr& guard : loops.guards()) {
    if (std::ranges::none_of(padded, [&](const Expr& other) { return other.same_as(guard); })) {
      guards.push_back(guard);
      continue;
    }
    for (Expr& value : values) value = if_then_else(guard, value, constant(value.type(), std::int64_t{0}));
  }
  return loops.wrap_with_attached_stages(loops.order(), guarded(guards, loops.store_all(values)));
}

}  // namespace ferry::lower
