// Puts the pieces of 16 bytes of each row of a tensor in shared memory into another order than in the row before, so
// that a GPU's threads which read down a column read from different banks. Nothing else changes: indices do not know
// it.
//
//     shared f16 AA[64, 32]    ->    AA[1, 0 .. 7] stands where AA[1, 8 .. 15] stood, ...
#include "host/schedule/primitives/placement.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void swizzle(Stages&, ScheduledStage* stage, Words& words) {
  words.end();
  expect_intermediate(*stage, words);
  stage->swizzled = true;
}

}  // namespace ferry::schedule
