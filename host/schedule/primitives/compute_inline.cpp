// Recomputes a stage wherever it is read instead of storing it.
//
//     B[i] = A[i] + 1
//     C[i] = B[i] * 2     ->    C[i] = (A[i] + 1) * 2
#include "host/schedule/primitives/attach_checks.h"
#include "host/schedule/primitives/attached_stages.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void compute_inline(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  args.end();
  expect_intermediate(*stage, args);
  if (stage->reduction() != nullptr)
    args.fail("a stage without a reduction",
              "'" + stage->name + "', which reduces: inlined, it would run its loops at every use");
  if (stage->sequence != nullptr)
    args.fail("a stage whose elements do not depend on each other",
              "'" + stage->name + "', which is computed in sequence");
  if (const ScheduledStage* attached = attached_to(stages, *stage))
    args.fail("a stage whose loops nothing needs",
              "'" + stage->name + "', in whose loops '" + attached->name + "' is computed");
  stage->compute_kind = ComputeKind::inlined;
  stage->store_at.reset();
}

}  // namespace ferry::schedule
