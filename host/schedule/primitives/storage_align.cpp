// Starts every row along an axis of an intermediate tensor at a multiple of FACTOR elements, plus OFFSET: this padding
// keeps rows aligned to vectors, or avoids conflicts between them in the cache.
//
//     B[4, 30]            ->    B[4, 30] with rows 32 elements apart      storage_align i0 32
#include "host/schedule/primitives/placement.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void storage_align(Stages&, ScheduledStage* stage, Words& words) {
  const std::string name = words.name("an axis of the tensor");
  std::size_t axis = 0;
  while (axis < stage->axes.size() && stage->axes[axis].var.as<ir::Var>()->name != name) ++axis;
  if (axis == stage->axes.size()) words.fail("an axis of the tensor '" + stage->name + "'", "'" + name + "'");
  if (axis + 1 == stage->axes.size())
    words.fail("an axis with others inside of it", "'" + name + "', the innermost, whose elements are neighbours");
  const std::int64_t factor = words.positive("a factor");
  const std::int64_t offset = words.at_end() ? 0 : words.integer("an offset");
  words.end();
  if (offset != 0 && axis + 2 != stage->axes.size())
    words.fail("an offset of 0 for rows of rows", std::to_string(offset));
  if (offset < 0 || offset >= factor) words.fail("an offset from 0 to below the factor", std::to_string(offset));
  expect_intermediate(*stage, words);
  if (stage->layout) words.fail("a tensor without a layout of its own", "'" + stage->name + "'");
  stage->alignments[axis] = {factor, offset};
}

}  // namespace ferry::schedule
