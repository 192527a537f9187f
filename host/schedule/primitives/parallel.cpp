// Runs a loop's iterations on several threads, in any order.
//
//     for y in n          ->    parallel for y in n
#include "host/schedule/primitives/loop_kind.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void parallel(Stages&, ScheduledStage* stage, Words& words) {
  const std::size_t axis = words.axis(*stage);
  words.end();
  expect_serial(*stage, axis, words);
  const Loop& loop = stage->loops.loop(axis);
  if (loop.reduces)
    words.fail("an axis of the result", "'" + loop.name + "', over which '" + stage->name +
                                            "' reduces: its iterations write the same elements; rfactor it first");
  stage->is_touched = true;
  stage->loops.set_kind(axis, ir::ForKind::parallel);
}

}  // namespace ferry::schedule
