// Puts the named loops in this order; together they keep their positions, and other loops are not moved.
//
//     for y                     for k
//       for x           ->        for x        reorder k x y
//         for k                     for y
#include "host/schedule/primitives/attached_stages.h"
#include "host/schedule/primitives/loop_kind.h"
#include "host/schedule/primitives/primitives.h"

#include <algorithm>

namespace ferry::schedule {

void reorder(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  const std::vector<std::size_t> wanted = args.axes(*stage);
  args.end();
  std::vector<std::size_t> order = stage->loops.order();
  std::size_t next = 0;
  for (std::size_t& id : order)
    if (std::find(wanted.begin(), wanted.end(), id) != wanted.end()) id = wanted[next++];
  stage->is_touched = true;
  stage->loops.reorder(std::move(order));
  expect_sequence(*stage, args);
  expect_lasting_prefetches(stages, args);
}

}  // namespace ferry::schedule
