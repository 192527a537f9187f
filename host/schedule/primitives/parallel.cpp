// Runs a loop's iterations on several threads, in any order.
//
//     for y in n          ->    parallel for y in n
#include "host/schedule/primitives/loop_kind.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void parallel(Stages&, ScheduledStage* stage, DirectiveArgs& args) {
  const std::size_t axis = args.axis(*stage);
  args.end();
  expect_serial(*stage, axis, args);
  expect_result_axis(*stage, axis, args);
  expect_any_order(*stage, axis, args);
  stage->is_touched = true;
  stage->loops.set_kind(axis, ir::ForKind::parallel);
}

}  // namespace ferry::schedule
