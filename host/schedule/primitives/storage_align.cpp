// Starts every row along an axis of an intermediate tensor at a multiple of FACTOR elements, plus OFFSET: this padding
// keeps rows aligned to vectors, or avoids conflicts between them in the cache.
//
//     B[4, 30]            ->    B[4, 30] with rows 32 elements apart      storage_align i0 32
#include "host/schedule/primitives/attach_checks.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void storage_align(Stages&, ScheduledStage* stage, DirectiveArgs& args) {
  const std::string name = args.name("an axis of the tensor");
  std::size_t axis = 0;
  while (axis < stage->axes.size() && stage->axes[axis].var.as<ir::Var>()->name != name) ++axis;
  if (axis == stage->axes.size()) args.fail("an axis of the tensor '" + stage->name + "'", "'" + name + "'");
  if (axis + 1 == stage->axes.size())
    args.fail("an axis with others inside of it", "'" + name + "', the innermost, whose elements are neighbours");
  const std::int64_t factor = args.positive("a factor");
  const std::int64_t offset = args.at_end() ? 0 : args.integer("an offset");
  args.end();
  if (offset != 0 && axis + 2 != stage->axes.size())
    args.fail("an offset of 0 for rows of rows", std::to_string(offset));
  if (offset < 0 || offset >= factor) args.fail("an offset from 0 to below the factor", std::to_string(offset));
  expect_intermediate(*stage, args);
  if (stage->layout) args.fail("a tensor without a layout of its own", "'" + stage->name + "'");
  stage->alignments[axis] = {factor, offset};
}

}  // namespace ferry::schedule
