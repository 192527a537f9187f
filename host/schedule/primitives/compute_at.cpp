// Computes a stage inside another's loop: in each iteration only the region that the rest of the iteration requires.
//
//     for y: for x: B[y,x] = ...                 for y
//     for y: for x: C[y,x] = f(B[y..y+2, x])  ->   for i in 3: for x: B[i,x] = ...
//                                                  for x: C[y,x] = f(B[0..2, x])
//
// Every use must be inside that loop. A result may be computed there too, if each of its elements is required at only
// one point.
#include "host/schedule/primitives/attach_checks.h"
#include "host/schedule/primitives/attached_stages.h"
#include "host/schedule/primitives/primitives.h"
#include "host/schedule/stages/written_once.h"

namespace ferry::schedule {

void compute_at(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  if (stage->is_result && !readers_of(stages, *stage).empty())
    expect_attachable(*stage, args);
  else
    expect_intermediate(*stage, args);
  Attachment place = read_attachment(stages, *stage, args);
  args.end();
  if (stage->is_result) {
    const ScheduledStage& at = *find_stage(stages, place.stage);
    const std::string problem = why_not_once(*stage, at, at.values, at.loops, place.loop);
    if (!problem.empty()) args.fail("each element of the result '" + stage->name + "' to be written once", problem);
  }
  stage->compute_kind = ComputeKind::attached;
  stage->compute_at = std::move(place);
  stage->store_at.reset();
  expect_lasting_prefetches(stages, args);
}

}  // namespace ferry::schedule
