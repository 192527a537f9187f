// Fuses two loops, the second directly inside the first, into one.
//
//     for y in n                for f in n*m
//       for x in m      ->        C[f / m, f % m] = ...
//         C[y,x] = ...
#include "host/schedule/primitives/attached_stages.h"
#include "host/schedule/primitives/primitives.h"
#include "host/schedule/stages/size_conditions.h"

#include <algorithm>

namespace ferry::schedule {

void fuse(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  const std::size_t outer = args.axis(*stage);
  const std::size_t inner = args.axis(*stage);
  const std::vector<std::string> names = args.new_axes(*stage, 1);
  args.end();
  expect_no_attached_stages(stages, *stage, outer, args);
  expect_no_attached_stages(stages, *stage, inner, args);
  const StageLoops& loops = stage->loops;
  const auto at = std::find(loops.order().begin(), loops.order().end(), outer);
  if (at + 1 == loops.order().end() || *(at + 1) != inner)
    args.fail("'" + loops.loop(inner).name + "' directly inside of '" + loops.loop(outer).name + "'",
              "the order " + axis_names(*stage) + "; reorder them first");
  if (loops.loop(outer).reduces != loops.loop(inner).reduces)
    args.fail("two axes of the result or two of the reduction", "one of each");
  if (loops.loop(outer).dependence != loops.loop(inner).dependence)
    args.fail("two axes along which '" + stage->name + "' is computed in sequence, or none",
              "'" + loops.loop(outer).name + "' and '" + loops.loop(inner).name + "'");
  stage->is_touched = true;
  const bool is_constant = ir::as_int(loops.loop(outer).extent) && ir::as_int(loops.loop(inner).extent);
  stage->loops.fuse(outer, inner, names[0], is_constant ? std::vector<Expr>{} : size_conditions(stages));
}

}  // namespace ferry::schedule
