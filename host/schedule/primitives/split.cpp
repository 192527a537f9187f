// Splits a loop into an outer and an inner one.
//
//     for y in n                for yo in n/32 rounded up
//       C[y] = ...      ->        for yi in 32
//                                   if yo*32 + yi < n
//                                     C[yo*32 + yi] = ...
//
// With `nparts N` the outer loop has N iterations and the inner one as many as needed. Guards that a factor requires
// are hoisted out of the hot loop later.
#include "host/schedule/primitives/attachments.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void split(Stages& stages, ScheduledStage* stage, Words& words) {
  const std::size_t axis = words.axis(*stage);
  const bool parts = words.accept("nparts");
  const std::int64_t factor = words.positive(parts ? "a number of parts" : "a factor");
  std::vector<std::string> names = words.new_axes(*stage, 2);
  words.end();
  expect_no_guests(stages, *stage, axis, words);
  stage->is_touched = true;
  if (parts)
    stage->loops.split_parts(axis, factor, names[0], names[1]);
  else
    stage->loops.split(axis, factor, names[0], names[1]);
}

}  // namespace ferry::schedule
