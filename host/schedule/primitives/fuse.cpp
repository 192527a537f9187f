// Fuses two loops, the second directly inside the first, into one.
//
//     for y in n                for f in n*m
//       for x in m      ->        C[f / m, f % m] = ...
//         C[y,x] = ...
#include "host/schedule/primitives/attachments.h"
#include "host/schedule/primitives/primitives.h"

#include <algorithm>

namespace ferry::schedule {

void fuse(Stages& stages, ScheduledStage* stage, Words& words) {
  const std::size_t outer = words.axis(*stage);
  const std::size_t inner = words.axis(*stage);
  const std::vector<std::string> names = words.new_axes(*stage, 1);
  words.end();
  expect_no_guests(stages, *stage, outer, words);
  expect_no_guests(stages, *stage, inner, words);
  const StageLoops& loops = stage->loops;
  const auto at = std::find(loops.order().begin(), loops.order().end(), outer);
  if (at + 1 == loops.order().end() || *(at + 1) != inner)
    words.fail("'" + loops.loop(inner).name + "' directly inside of '" + loops.loop(outer).name + "'",
               "the order " + axis_names(*stage) + "; reorder them first");
  if (loops.loop(outer).reduces != loops.loop(inner).reduces)
    words.fail("two axes of the result or two of the reduction", "one of each");
  stage->is_touched = true;
  stage->loops.fuse(outer, inner, names[0]);
}

}  // namespace ferry::schedule
