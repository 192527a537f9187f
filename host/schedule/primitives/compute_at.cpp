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

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"

#include <algorithm>

namespace ferry::schedule {

namespace {

// A recurrence needs all elements from the start of its sequence. Computed at a loop whose iterations read different
// ones of them, it would compute them again in every iteration.
void expect_whole_sequence(const ScheduledStage& stage, const ScheduledStage& at, std::size_t loop,
                           const DirectiveArgs& args) {
  if (stage.sequence == nullptr) return;
  const std::vector<std::size_t>& order = at.loops.order();
  const auto end = std::find(order.begin(), order.end(), loop) + 1;
  const auto depends = [&](const Expr& index) {
    for (const StageLoops::AxisValue& axis : at.loops.axis_values())
      if (ir::uses_var(index, axis.axis))
        for (auto id = order.begin(); id != end; ++id)
          if (ir::uses_var(axis.value, at.loops.loop(*id).var)) return true;
    return false;
  };
  for (const Expr& value : at.expressions())
    for (const ir::Load* load : analysis::loads_of(value)) {
      if (std::find(stage.outputs.begin(), stage.outputs.end(), load->buffer) == stage.outputs.end()) continue;
      for (std::size_t d = 0; d < load->indices.size(); ++d)
        if (stage.sequence->crossed[d] && depends(load->indices[d]))
          args.fail("a loop whose iterations all need '" + stage.name + "' from the start of its sequence",
                    "'" + at.loops.loop(loop).name + "' of '" + at.name + "', each of which would compute it again");
    }
}

}  // namespace

void compute_at(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  if (stage->is_result && !readers_of(stages, *stage).empty())
    expect_attachable(*stage, args);
  else
    expect_intermediate(*stage, args);
  Attachment place = read_attachment(stages, *stage, args);
  args.end();
  expect_whole_sequence(*stage, *find_stage(stages, place.stage), place.loop, args);
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
