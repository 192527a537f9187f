// Extends the lifetime of a stage's values beyond the iteration that computes them: to an iteration of a loop further
// out, or to the whole call. Values of earlier iterations are not recomputed, so the stage becomes a sliding window:
//
//     for y                                      allocate B for all y
//       B[y..y+2] = ...                    ->    for y
//       C[y] = f(B[y..y+2])                        B[y+2] = ...         (all of B[0..2] at the first y)
//                                                  C[y] = f(B[y..y+2])
//
// The directive compute_at must come first.
#include "host/schedule/primitives/attach_checks.h"
#include "host/schedule/primitives/attached_stages.h"
#include "host/schedule/primitives/primitives.h"

#include <algorithm>

namespace ferry::schedule {

void store_at(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  if (stage->compute_kind != ComputeKind::attached)
    args.fail("a stage that is computed inside another's loop", "'" + stage->name + "'; use compute_at first");
  if (args.accept("root")) {
    expect_intermediate(*stage, args);
    args.end();
    stage->store_at = Attachment{};
    return;
  }
  expect_intermediate(*stage, args);
  Attachment place = read_attachment(stages, *stage, args);
  args.end();
  const ScheduledStage& computed = *find_stage(stages, stage->compute_at.stage);
  const std::vector<std::size_t>& order = computed.loops.order();
  const bool outside = computed.name == place.stage ? std::find(order.begin(), order.end(), place.loop) <=
                                                          std::find(order.begin(), order.end(), stage->compute_at.loop)
                                                    : is_within(stages, computed, place);
  if (!outside)
    args.fail("a loop around the one that computes '" + stage->name + "' ('" +
                  computed.loops.loop(stage->compute_at.loop).name + "' of '" + computed.name + "')",
              "'" + find_stage(stages, place.stage)->loops.loop(place.loop).name + "' of '" + place.stage + "'");
  stage->store_at = std::move(place);
  expect_lasting_prefetches(stages, args);
}

}  // namespace ferry::schedule
