// Permutes the 16-byte pieces within each row of a tensor in shared memory, differently from row to row, so that GPU
// threads which read down a column access different banks. Indices are unaffected.
//
//     shared f16 AA[64, 32]    ->    AA[1, 0 .. 7] stands where AA[1, 8 .. 15] stood, ...
#include "host/schedule/primitives/attach_checks.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void swizzle(Stages&, ScheduledStage* stage, DirectiveArgs& args) {
  args.end();
  expect_intermediate(*stage, args);
  stage->swizzled = true;
}

}  // namespace ferry::schedule
