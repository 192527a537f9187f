// Distributes a loop's iterations over the blocks or threads of a GPU: each runs one of them.
//
//     for y in m                       blockIdx.x for y in m
//       for x in 64             ->       threadIdx.x for x in 64
//         C[y, x] = ...                    C[y, x] = ...
//
// Loops of several stages that are computed in one kernel may be bound to the same axis if they have the same extent: a
// stage that is computed inside another's threads is then computed by all of them together. `vthread` makes virtual
// threads: one thread runs several iterations, interleaved statement by statement.
//
// After rfactor, the axis of the partial results may be bound to threads: each computes one, if they are computed there
// (compute_at), and the threads combine them in a tree.
#include "host/schedule/primitives/loop_kind.h"
#include "host/schedule/primitives/primitives.h"

#include <array>

namespace ferry::schedule {

namespace {

using ir::ForKind;

constexpr std::array<ForKind, 7> kTargets = {ForKind::block_x,  ForKind::block_y,  ForKind::block_z, ForKind::thread_x,
                                             ForKind::thread_y, ForKind::thread_z, ForKind::vthread};
constexpr std::int64_t kMaxVirtualThreads = 64;

ForKind read_target(DirectiveArgs& args) {
  std::vector<std::string> names;
  for (const ForKind kind : kTargets) names.emplace_back(ir::kind_name(kind));
  const std::string word = args.name("what to bind the axis to (" + quoted(names) + ")");
  for (const ForKind kind : kTargets)
    if (word == ir::kind_name(kind)) return kind;
  args.fail("one of " + quoted(names), "'" + word + "'");
}

}  // namespace

void bind(Stages&, ScheduledStage* stage, DirectiveArgs& args) {
  const std::size_t axis = args.axis(*stage);
  const ForKind kind = read_target(args);
  args.end();
  expect_serial(*stage, axis, args);
  const Loop& loop = stage->loops.loop(axis);
  expect_any_order(*stage, axis, args);
  if (loop.dependence == Dependence::step)
    args.fail("an axis whose elements do not depend on each other",
              "'" + loop.name + "', along which '" + stage->name + "' reads elements of other threads");
  if (!stage->joins_partials || !ir::is_thread(kind)) expect_result_axis(*stage, axis, args);
  if (kind != ForKind::vthread) {
    for (const std::size_t other : stage->loops.order())
      if (stage->loops.loop(other).kind == kind)
        args.fail("an axis of the GPU that '" + stage->name + "' does not use yet",
                  std::string(ir::kind_name(kind)) + ", to which '" + stage->loops.loop(other).name + "' is bound");
  } else {
    expect_at_most(kMaxVirtualThreads, *stage, axis, args);
  }
  if (!ir::is_block(kind) && !may_be_constant(*stage, axis))
    args.fail("an axis with a constant extent",
              "'" + loop.name + "', whose extent is known only at run time; split it and bind the inner axis");
  stage->is_touched = true;
  stage->loops.set_kind(axis, kind);
}

}  // namespace ferry::schedule
