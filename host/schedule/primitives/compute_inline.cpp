// Recomputes a stage wherever it is read instead of storing it.
//
//     B[i] = A[i] + 1
//     C[i] = B[i] * 2     ->    C[i] = (A[i] + 1) * 2
#include "host/schedule/primitives/attachments.h"
#include "host/schedule/primitives/placement.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void compute_inline(Stages& stages, ScheduledStage* stage, Words& words) {
  words.end();
  expect_intermediate(*stage, words);
  if (stage->reduction() != nullptr)
    words.fail("a stage without a reduction",
               "'" + stage->name + "', which reduces: inlined, it would run its loops at every use");
  if (const ScheduledStage* guest = attached_to(stages, *stage))
    words.fail("a stage whose loops nothing needs",
               "'" + stage->name + "', in whose loops '" + guest->name + "' is computed");
  stage->place = Place::inlined;
  stage->store_at.reset();
}

}  // namespace ferry::schedule
