// Splits a reduction in two: a new stage computes a partial result for each iteration of one of the reduction's loops,
// and this stage reduces those. The reduction loop becomes an axis of the partial results, so it may be parallel or
// vectorized. Floats are added in another order.
//
//     for y: for ko: for ki            for ko: for y: for ki: C.rf[ko,y] += A[y, ko*32 + ki]
//       C[y] += A[y, ko*32 + ki]  ->   for y: for ko:         C[y] += C.rf[ko,y]
#include "host/schedule/primitives/attached_stages.h"
#include "host/schedule/primitives/new_stage.h"
#include "host/schedule/primitives/primitives.h"

#include "crosscompile/ir/substitute.h"
#include "module/manifest.h"

#include <algorithm>

namespace ferry::schedule {

namespace {

void expect_plain_results(const ScheduledStage& stage, const DirectiveArgs& args) {
  for (std::size_t i = 0; i < stage.loops.spatial_axes(); ++i)
    if (!stage.loops.is_in_order(i) || stage.loops.loop(i).kind != ir::ForKind::serial)
      args.fail("rfactor before directives about the axes of the result",
                "it after '" + stage.loops.loop(i).name + "' was changed");
}

}  // namespace

void rfactor(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  const ir::Reduce* reduction = stage->reduction();
  if (reduction == nullptr) args.fail("a stage that reduces", "'" + stage->name + "'");
  if (stage->sequence != nullptr)
    args.fail("a reduction that does not read its own results", "'" + stage->name + "', which is computed in sequence");
  const std::size_t factor = args.axis(*stage);
  const Loop& loop = stage->loops.loop(factor);
  if (!loop.reduces) args.fail("an axis of the reduction", "'" + loop.name + "', an axis of the result");
  const std::string name = args.new_stage(stage->name + ".rf");
  args.end();
  expect_plain_results(*stage, args);
  if (attached_to(stages, *stage) != nullptr)
    args.fail("rfactor before other stages are computed in the loops of '" + stage->name + "'", "it after that");
  if (!stage->prefetches.empty())
    args.fail("rfactor before anything is prefetched in the loops of '" + stage->name + "'", "it after that");
  if (stage->axes.size() == kMaxRank)
    args.fail("a result of at most " + std::to_string(kMaxRank - 1) + " axes", std::to_string(kMaxRank));
  for (const ir::Axis& axis : stage->axes)
    if (ir::uses_var(loop.extent, axis.var))
      args.fail("an axis whose extent is the same for every element", "'" + loop.name + "'");

  // The partial results reduce over the remaining loops of the reduction.
  ScheduledStage partial;
  partial.name = name;
  ir::Substitution renamed;
  const std::vector<ir::Axis> kept = fresh_axes(stage->axes, renamed);
  partial.axes.push_back({ir::Var::make(loop.name), Expr(0), loop.extent});
  partial.axes.insert(partial.axes.end(), kept.begin(), kept.end());
  ir::Substitution loop_vars = {{loop.var.get(), partial.axes[0].var}};
  std::vector<ir::Axis> inner;
  for (std::size_t id : stage->loops.order()) {
    const Loop& other = stage->loops.loop(id);
    if (!other.reduces || id == factor) continue;
    inner.push_back({ir::Var::make(other.name), Expr(0), ir::substitute(other.extent, renamed)});
    loop_vars[other.var.get()] = inner.back().var;
  }
  if (inner.empty()) args.fail("another axis of the reduction beside '" + loop.name + "'; split it first", "none");
  for (const StageLoops::AxisValue& axis : stage->loops.axis_values())
    if (!renamed.contains(axis.axis.get())) renamed[axis.axis.get()] = ir::substitute(axis.value, loop_vars);
  Expr condition = reduction->condition.defined() ? ir::substitute(reduction->condition, renamed) : Expr();
  for (const Expr& guard : stage->loops.guards()) {
    const Expr inside = ir::substitute(ir::substitute(guard, loop_vars), renamed);
    condition = condition.defined() ? condition && inside : inside;
  }
  std::vector<Expr> sources, partials;
  std::vector<ir::Axis> outer = {{ir::Var::make(loop.name), Expr(0), loop.extent}};
  std::vector<Expr> point = {outer[0].var};
  for (const ir::Axis& axis : stage->axes) point.push_back(axis.var);
  for (const Expr& source : reduction->sources) sources.push_back(ir::substitute(source, renamed));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    partial.values.push_back(ir::Reduce::make(reduction->reducer, sources, inner, condition, {}, i));
    partial.outputs.push_back(
        make_tensor(name + (sources.size() > 1 ? "." + std::to_string(i) : ""), sources[i].type().code, partial.axes));
    partials.push_back(ir::Load::make(partial.outputs[i], point));
  }
  partial.loops = plain_loops(partial);

  std::vector<Expr> values;
  for (const Expr& value : stage->values)
    values.push_back(
        ir::Reduce::make(reduction->reducer, partials, outer, {}, reduction->init, value.as<ir::Reduce>()->component));
  stage->values = std::move(values);
  stage->loops = plain_loops(*stage);
  stage->is_touched = true;
  stage->joins_partials = true;
  const auto at = std::find_if(stages.begin(), stages.end(), [&](const auto& other) { return &other == stage; });
  stages.insert(at, std::move(partial));
}

}  // namespace ferry::schedule
