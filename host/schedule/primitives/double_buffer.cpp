// Computes a stage one iteration ahead of the loop it is computed at, into the other half of a buffer twice as large:
// the next part is fetched while this one is used. The buffer holds COPIES parts (default 2), and all but one of them
// are computed ahead.
//
//     for k.o                                 B[0] = ... of k.o = 0
//       B = ... of k.o                        for k.o
//       C += ... B ...                  ->      if k.o + 1 < extent: B[(k.o + 1) % 2] = ... of k.o + 1
//                                               C += ... B[k.o % 2] ...
#include "host/schedule/primitives/attach_checks.h"
#include "host/schedule/primitives/loop_kind.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void double_buffer(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  constexpr std::int64_t kMostCopies = 8;
  const std::int64_t copies = args.at_end() ? 2 : args.integer("a number of copies");
  args.end();
  expect_intermediate(*stage, args);
  if (copies < 2 || copies > kMostCopies)
    args.fail("2 to " + std::to_string(kMostCopies) + " copies", std::to_string(copies));
  if (stage->compute_kind != ComputeKind::attached)
    args.fail("a stage that is computed at a loop (compute_at)", "'" + stage->name + "'");
  if (stage->store_at)
    args.fail("a stage that is kept for one iteration", "'" + stage->name + "', which store_at keeps for longer");
  if (stage->sequence != nullptr)
    args.fail("a stage whose elements do not depend on each other",
              "'" + stage->name + "', which is computed in sequence");
  const ScheduledStage& host = *find_stage(stages, stage->compute_at.stage);
  expect_serial(host, stage->compute_at.loop, args);
  stage->copies = copies;
}

}  // namespace ferry::schedule
