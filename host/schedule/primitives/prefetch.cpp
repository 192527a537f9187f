// Prefetches what a later iteration of a loop will read: the cache lines of TENSOR that iteration AXIS + OFFSET reads,
// as far as the loops inside it have constant extents.
//
//     for k                          for k
//       C[m] += A[m,k] * B[k]   ->     prefetch(B[k + 64])
//                                      C[m] += A[m,k] * B[k]
//
// `next ROWS` in place of an offset: the columns after those that a tile reads, one cache line in each iteration, while
// the same columns are read for the rows of other tiles.
//
// This is a hint: it changes no result, and prefetches for iterations beyond the last are useless but harmless.
#include "crosscompile/analysis/loads.h"
#include "host/schedule/primitives/attached_stages.h"
#include "host/schedule/primitives/primitives.h"

#include <algorithm>
#include <optional>

namespace ferry::schedule {

using analysis::loads_of;

namespace {

bool is_plain(const ir::Load& load) {
  return std::all_of(load.indices.begin(), load.indices.end(),
                     [](const Expr& index) { return loads_of(index).empty(); });
}

std::size_t read_rows(const ScheduledStage& stage, DirectiveArgs& args) {
  if (stage.reduction() == nullptr) args.fail("a sum", "'" + stage.name + "'");
  const std::string name = args.name("an axis over rows");
  for (std::size_t axis = 0; axis < stage.axes.size(); ++axis)
    if (stage.axes[axis].var.as<ir::Var>()->name == name) return axis;
  args.fail("an axis of the tensor '" + stage.name + "'", "'" + name + "'");
}

}  // namespace

void prefetch(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  const std::string name = args.name("a tensor that '" + stage->name + "' reads");
  const ScheduledStage* producer = find_stage(stages, name);
  ir::BufferRef tensor;
  bool is_gathered = false;
  for (const Expr& value : stage->values)
    for (const ir::Load* load : loads_of(value)) {
      const bool is_meant = producer == nullptr
                                ? load->buffer->name == name && producer_of(stages, load->buffer.get()) == nullptr
                                : producer_of(stages, load->buffer.get()) == producer;
      if (!is_meant) continue;
      tensor = load->buffer;
      is_gathered |= !is_plain(*load);
    }
  if (tensor == nullptr) args.fail("a tensor that '" + stage->name + "' reads", "'" + name + "'");
  if (is_gathered)
    args.fail("a tensor whose indices are known before anything is read",
              "'" + name + "', whose indices are elements of another one");
  const std::size_t axis = args.axis(*stage);
  const bool is_next = args.accept("next");
  const std::optional<std::size_t> rows = is_next ? std::optional(read_rows(*stage, args)) : std::nullopt;
  const std::int64_t offset = is_next ? 0 : args.positive("a number of iterations");
  args.end();
  const Loop& loop = stage->loops.loop(axis);
  if (loop.kind == ir::ForKind::vectorized)
    args.fail("a loop whose iterations come one after the other", "'" + loop.name + "', which is vectorized");
  stage->is_touched = true;
  stage->prefetches.push_back({axis, tensor, offset, rows});
  expect_lasting_prefetches(stages, args);
}

}  // namespace ferry::schedule
