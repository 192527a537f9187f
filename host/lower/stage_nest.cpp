#include "host/lower/stage_nest.h"

#include "host/lower/guarded_loads.h"
#include "host/lower/reduction_nest.h"

namespace ferry::lower {

ir::Stmt stage_nest(const Nest& nest, const std::vector<schedule::Loop>& around, const LoopBody& loop_body) {
  NestLoops loops(nest, loop_body);
  if (nest.reduction() != nullptr) return reduction_nest(nest, around, loops);
  std::vector<Expr> values;
  for (const Expr& value : nest.values) values.push_back(loops.at_point(value));
  return loops.wrap_with_attached_stages(loops.order(), guarded(loops.guards(), loops.store_all(values)));
}

}  // namespace ferry::lower
