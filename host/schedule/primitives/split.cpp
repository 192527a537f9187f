// Splits a loop into an outer and an inner one.
//
//     for y in n                for yo in n/32 rounded up
//       C[y] = ...      ->        for yi in 32
//                                   if yo*32 + yi < n
//                                     C[yo*32 + yi] = ...
//
// With `nparts N` the outer loop has N iterations and the inner one as many as needed. Guards that a factor requires
// are hoisted out of the hot loop later.
#include "host/schedule/primitives/attached_stages.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void split(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  const std::size_t axis = args.axis(*stage);
  const bool parts = args.accept("nparts");
  const std::int64_t factor = args.positive(parts ? "a number of parts" : "a factor");
  std::vector<std::string> names = args.new_axes(*stage, 2);
  args.end();
  expect_no_attached_stages(stages, *stage, axis, args);
  stage->is_touched = true;
  if (parts)
    stage->loops.split_parts(axis, factor, names[0], names[1]);
  else
    stage->loops.split(axis, factor, names[0], names[1]);
}

}  // namespace ferry::schedule
