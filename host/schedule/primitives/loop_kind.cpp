#include "host/schedule/primitives/loop_kind.h"

namespace ferry::schedule {

bool may_be_constant(const ScheduledStage& stage, std::size_t loop) {
  return stage.compute_kind == ComputeKind::attached || ir::as_int(stage.loops.loop(loop).extent) != nullptr;
}

void expect_serial(const ScheduledStage& stage, std::size_t loop, const DirectiveArgs& args) {
  const Loop& what = stage.loops.loop(loop);
  switch (what.kind) {
    case ir::ForKind::serial: return;
    case ir::ForKind::parallel: args.fail("a serial loop", "'" + what.name + "', which is parallel");
    case ir::ForKind::vectorized: args.fail("a serial loop", "'" + what.name + "', which is vectorized");
    case ir::ForKind::unrolled: args.fail("a serial loop", "'" + what.name + "', which is unrolled");
    default: args.fail("a serial loop", "'" + what.name + "', which is bound to " + ir::kind_name(what.kind));
  }
}

void expect_result_axis(const ScheduledStage& stage, std::size_t loop, const DirectiveArgs& args) {
  const Loop& what = stage.loops.loop(loop);
  if (what.reduces)
    args.fail("an axis of the result", "'" + what.name + "', over which '" + stage.name +
                                           "' reduces: its iterations write the same elements; rfactor it first");
}

void expect_any_order(const ScheduledStage& stage, std::size_t loop, const DirectiveArgs& args) {
  const Loop& what = stage.loops.loop(loop);
  if (what.dependence == Dependence::sequence)
    args.fail("an axis whose iterations run in any order",
              "'" + what.name + "', along which '" + stage.name + "' is computed in sequence");
}

void expect_sequence(const ScheduledStage& stage, const DirectiveArgs& args) {
  const std::string problem = stage.loops.why_out_of_sequence();
  if (problem.empty()) return;
  const lang::Sequence& sequence = *stage.sequence;
  const std::string axis = stage.loops.loop(stage.loops.spatial(sequence.axis)).name;
  args.fail("loops that compute '" + stage.name + "' in sequence along '" + axis + "'", problem);
}

void expect_at_most(std::int64_t iterations, const ScheduledStage& stage, std::size_t loop, const DirectiveArgs& args) {
  const Loop& what = stage.loops.loop(loop);
  const std::int64_t* extent = ir::as_int(what.extent);
  if (extent == nullptr || *extent <= iterations) return;
  args.fail("an axis of at most " + std::to_string(iterations) + " iterations",
            "'" + what.name + "' with " + std::to_string(*extent) + "; split it and take the inner axis");
}

}  // namespace ferry::schedule
