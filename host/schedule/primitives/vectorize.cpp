// Runs all iterations of a loop at once, in vector registers.
//
//     for x in 8                C[x0 .. x0+7] = A[x0 .. x0+7] + 1
//       C[x] = A[x] + 1   ->
//
// The loop needs a constant extent, so it is usually the inner one of a split. A loop longer than a register becomes a
// loop over native vectors. Over a reduction's axis the lanes hold partial results, which changes the order in which
// floats are added: `vectorize AXIS reduce` confirms that this is intended.
#include "host/schedule/primitives/loop_kind.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

namespace {

// Every lane holds a partial result of its own.
constexpr std::int64_t kMaxPartials = 1024;

}  // namespace

void vectorize(Stages&, ScheduledStage* stage, DirectiveArgs& args) {
  const std::size_t axis = args.axis(*stage);
  const bool reduce = args.accept("reduce");
  args.end();
  expect_serial(*stage, axis, args);
  expect_any_order(*stage, axis, args);
  const Loop& loop = stage->loops.loop(axis);
  if (!may_be_constant(*stage, axis))
    args.fail("an axis with a constant extent",
              "'" + loop.name + "', whose extent is known only at run time; split it and vectorize the inner axis");
  if (reduce) expect_at_most(kMaxPartials, *stage, axis, args);
  if (reduce && !loop.reduces)
    args.fail("an axis over which '" + stage->name + "' reduces before 'reduce'", "'" + loop.name + "'");
  if (loop.reduces && !reduce)
    args.fail("an axis of the result", "'" + loop.name + "', over which '" + stage->name +
                                           "' reduces; rfactor it, or let lanes hold partial results with "
                                           "'vectorize " +
                                           loop.name + " reduce'");
  if (reduce && stage->reduction()->reducer->op == ir::ReduceOp::user)
    args.fail("a built-in reduction before 'reduce'", "a user's, whose lanes cannot be combined; rfactor it instead");
  for (const ScheduledStage::Prefetch& prefetch : stage->prefetches)
    if (prefetch.loop == axis)
      args.fail("a loop without a prefetch",
                "'" + loop.name + "', where '" + prefetch.tensor->name + "' is prefetched");
  stage->is_touched = true;
  stage->loops.set_kind(axis, ir::ForKind::vectorized);
}

}  // namespace ferry::schedule
