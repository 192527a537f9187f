// Repeats a loop's body for every iteration. The loop needs a constant extent.
//
//     for k in 2                C[0] = ...
//       C[k] = ...        ->    C[1] = ...
#include "host/schedule/primitives/loop_kind.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

namespace {

constexpr std::int64_t kMaxCopies = 4096;

}  // namespace

void unroll(Stages&, ScheduledStage* stage, DirectiveArgs& args) {
  const std::size_t axis = args.axis(*stage);
  args.end();
  expect_serial(*stage, axis, args);
  if (!may_be_constant(*stage, axis))
    args.fail("an axis with a constant extent", "'" + stage->loops.loop(axis).name +
                                                    "', whose extent is known only at run time; split it and unroll "
                                                    "the inner axis");
  // Inside another stage's loops the loop has only as many iterations as are required there.
  if (stage->compute_kind != ComputeKind::attached) expect_at_most(kMaxCopies, *stage, axis, args);
  stage->is_touched = true;
  stage->loops.set_kind(axis, ir::ForKind::unrolled);
}

}  // namespace ferry::schedule
