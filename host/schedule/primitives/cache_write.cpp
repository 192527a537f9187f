// Computes a stage into a tensor of another scope first and copies that: results can stay close to the processor while
// they are accumulated, and are written out once.
//
//     for y: for x: for k                 for y: for x: for k
//       C[y,x] += A[y,k]*B[k,x]   ->        C.local[y,x] += A[y,k]*B[k,x]
//                                         for y: for x: C[y,x] = C.local[y,x]
//
// The new stage is usually computed at a loop of the copy.
#include "host/schedule/primitives/attach_checks.h"
#include "host/schedule/primitives/attached_stages.h"
#include "host/schedule/primitives/new_stage.h"
#include "host/schedule/primitives/primitives.h"

#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <algorithm>

namespace ferry::schedule {

void cache_write(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  const ir::Scope scope = args.scope();
  const std::string name = args.new_stage(stage->name + suffix_of(scope));
  args.end();
  expect_own_storage(*stage, args);
  if (stage->is_touched)
    args.fail("cache_write before directives about the loops of '" + stage->name + "'", "it after one");
  if (stage->compute_kind == ComputeKind::inlined)
    args.fail("a stage that is stored", "'" + stage->name + "', which is inlined");
  if (attached_to(stages, *stage) != nullptr)
    args.fail("cache_write before other stages are computed in the loops of '" + stage->name + "'", "it after that");
  ScheduledStage cache;
  cache.name = name;
  cache.scope = scope;
  ir::Substitution renamed;
  cache.axes = fresh_axes(stage->axes, renamed);
  for (std::size_t i = 0; i < stage->values.size(); ++i) {
    cache.values.push_back(ir::substitute(stage->values[i], renamed));
    cache.outputs.push_back(make_tensor(name + (stage->values.size() > 1 ? "." + std::to_string(i) : ""),
                                        stage->values[i].type().code, cache.axes));
    stage->values[i] = ir::cast(stage->outputs[i]->dtype, ir::Load::make(cache.outputs[i], variables_of(stage->axes)));
  }
  cache.sequence = std::move(stage->sequence);
  stage->sequence = nullptr;
  cache.loops = plain_loops(cache);
  stage->loops = plain_loops(*stage);
  const auto at = std::find_if(stages.begin(), stages.end(), [&](const auto& other) { return &other == stage; });
  stages.insert(at, std::move(cache));
}

}  // namespace ferry::schedule
