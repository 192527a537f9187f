// Replaces a loop and everything inside it by one instruction, or one call of a C function, that computes the same. The
// nest is compared with the instruction's definition: its operations and sizes here, the memory layout of its operands
// when the program is lowered, after all other directives.
//
//     for n in 16
//       for k in 4                              C[n .. n+15] = dot(C[n .. n+15], A[0 .. 3] for all, B[n,0 .. n+15,3])
//         C[n] += i32(A[k]) * i32(B[n,k])   ->
//
// `dot` is any sum of products of groups of narrow numbers; a target without such an instruction multiplies and adds.
// The name of an instruction requires exactly its sizes. Floats may be added in another order.
//
// mma_m16n8k16 runs on a warp's tensor cores (passes/tensorize/tensor_core.h); its nest is the part of one thread,
// which is compared once the parts of all threads are known.
//
// tile_dot is a product of AMX's tiles (passes/tensorize/tile_dot.h), which is compared then too. The loops over rows
// may lack some at the end.
#include "host/schedule/primitives/loop_kind.h"
#include "host/schedule/primitives/primitives.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/tensorize/tensorize_nest.h"
#include "host/lang/names.h"
#include "host/schedule/stages/padded_loads.h"

#include <algorithm>

namespace ferry::schedule {

using analysis::loads_of;

namespace {

std::vector<std::size_t> loops_from(const ScheduledStage& stage, std::size_t axis) {
  const std::vector<std::size_t>& order = stage.loops.order();
  return {std::find(order.begin(), order.end(), axis), order.end()};
}

// Returns the conditions under which an iteration counts, but for those of lanes beyond the last result that may be
// computed as well: accumulators have room for them, and what they read exists.
std::vector<Expr> conditions_of(const ScheduledStage& stage, const ir::Substitution& values) {
  std::vector<analysis::Range> ranges;
  for (const std::size_t id : stage.loops.order())
    ranges.push_back({stage.loops.loop(id).var, Expr(0), stage.loops.loop(id).extent});
  const auto depends_on_reduction = [&](const Expr& guard) {
    return std::ranges::any_of(stage.loops.order(), [&](std::size_t id) {
      const Loop& loop = stage.loops.loop(id);
      return loop.reduces && ir::uses_var(guard, loop.var);
    });
  };
  std::vector<Expr> conditions;
  for (const Expr& guard : stage.loops.guards()) {
    bool is_needed = stage.reduction() == nullptr || depends_on_reduction(guard);
    if (!is_needed)
      for (const Expr& source : stage.reduction()->sources) {
        const Expr read = ir::substitute(source, values);
        for (const ir::Load* load : loads_of(read)) is_needed |= !exists_without(guard, *load, ranges);
      }
    if (is_needed) conditions.push_back(guard);
  }
  return conditions;
}

// Returns one iteration's part of the result: C[m,n] = C[m,n] + source.
passes::LoopNest nest_of(const ScheduledStage& stage, const std::vector<std::size_t>& loops,
                         const DirectiveArgs& args) {
  passes::LoopNest nest;
  for (const std::size_t id : loops) {
    const Loop& loop = stage.loops.loop(id);
    const std::int64_t* extent = ir::as_int(loop.extent);
    if (extent == nullptr) args.fail("loops of constant extents", "'" + loop.name + "'");
    nest.loops.push_back({loop.var, *extent});
  }
  ir::Substitution values;
  for (const StageLoops::AxisValue& axis : stage.loops.axis_values()) values[axis.axis.get()] = axis.value;
  std::vector<Expr> point;
  for (const ir::Axis& axis : stage.axes) point.push_back(values.at(axis.var.get()));
  Expr value = stage.values.front();
  // Accumulators have the type of the sum, which may be wider than its results.
  auto sums = std::make_shared<ir::Buffer>(*stage.outputs[0]);
  sums->dtype = value.type().code;
  nest.conditions = conditions_of(stage, values);
  if (const ir::Reduce* reduction = stage.reduction()) {
    if (reduction->condition.defined()) nest.conditions.push_back(ir::substitute(reduction->condition, values));
    values[reduction->reducer->left[0].get()] = ir::Load::make(sums, point);
    values[reduction->reducer->right[0].get()] = ir::substitute(reduction->sources[0], values);
    value = reduction->reducer->combine[0];
  }
  nest.store = ir::Store::make(sums, point, ir::substitute(value, values));
  return nest;
}

bool reads_inlined(const Stages& stages, const ScheduledStage& stage) {
  std::vector<Expr> values = stage.values;
  if (const ir::Reduce* reduction = stage.reduction()) values = reduction->sources;
  for (const Expr& value : values) {
    for (const ir::Load* load : loads_of(value)) {
      const ScheduledStage* producer = producer_of(stages, load->buffer.get());
      if (producer != nullptr && producer->compute_kind == ComputeKind::inlined) return true;
    }
  }
  return false;
}

// Returns the program's context; stages made by other directives have none.
std::shared_ptr<const Context> context_of(const Stages& stages) {
  for (const ScheduledStage& stage : stages)
    if (stage.context != nullptr) return stage.context;
  return nullptr;
}

}  // namespace

void tensorize(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  const std::size_t axis = args.axis(*stage);
  const std::shared_ptr<const Context> context = context_of(stages);
  const std::vector<std::string> names = passes::tensor_intrinsic_names(context.get());
  const std::string intrinsic = args.name("an intrinsic");
  if (std::find(names.begin(), names.end(), intrinsic) == names.end())
    args.fail("an intrinsic (dot, an instruction, or the program's own)",
              "'" + intrinsic + "'" + lang::suggestion(intrinsic, names));
  args.end();
  if (stage->tensorized) args.fail("a stage that is not tensorized yet", "'" + stage->name + "'");
  if (stage->outputs.size() != 1) args.fail("a stage with one result", "'" + stage->name + "'");
  if (stage->sequence != nullptr)
    args.fail("a stage whose elements do not depend on each other",
              "'" + stage->name + "', which is computed in sequence");
  const std::vector<std::size_t> loops = loops_from(*stage, axis);
  for (const std::size_t id : loops) expect_serial(*stage, id, args);
  if (!passes::is_instruction(intrinsic)) {
    const passes::LoopNest nest = nest_of(*stage, loops, args);
    if (!reads_inlined(stages, *stage)) {
      if (const std::string mismatch = passes::check_nest(intrinsic, context.get(), nest); !mismatch.empty())
        args.fail(mismatch);
    }
  }
  stage->tensorized = ScheduledStage::Tensorized{axis, intrinsic, context};
  stage->is_touched = true;
  // The initialisation and the store of the results are vectorised too.
  if (!passes::has_lanes(intrinsic, context.get())) return;
  const auto lane =
      std::find_if(loops.rbegin(), loops.rend(), [&](std::size_t id) { return !stage->loops.loop(id).reduces; });
  if (lane != loops.rend()) stage->loops.set_kind(*lane, ir::ForKind::vectorized);
}

}  // namespace ferry::schedule
