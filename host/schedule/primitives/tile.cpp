// Tiles two adjacent loops: two splits and a reorder.
//
//     for y in n                for yo in n/8
//       for x in m      ->        for xo in m/16
//         C[y,x] = ...              for yi in 8
//                                     for xi in 16
//                                       C[yo*8 + yi, xo*16 + xi] = ...
#include "host/schedule/primitives/attached_stages.h"
#include "host/schedule/primitives/loop_kind.h"
#include "host/schedule/primitives/primitives.h"

#include <algorithm>

namespace ferry::schedule {

void tile(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  const std::size_t y = args.axis(*stage);
  const std::size_t x = args.axis(*stage);
  if (y == x) args.fail("two axes", "'" + stage->loops.loop(y).name + "' twice");
  const std::int64_t y_factor = args.positive("a factor");
  const std::int64_t x_factor = args.positive("a factor");
  const std::vector<std::string> names = args.new_axes(*stage, 4);
  args.end();
  expect_no_attached_stages(stages, *stage, y, args);
  expect_no_attached_stages(stages, *stage, x, args);
  const std::vector<std::size_t>& before = stage->loops.order();
  const auto at = std::find(before.begin(), before.end(), y);
  if (at + 1 == before.end() || *(at + 1) != x)
    args.fail("'" + stage->loops.loop(x).name + "' directly inside of '" + stage->loops.loop(y).name + "'",
              "the order " + axis_names(*stage) + "; reorder them first");
  const std::ptrdiff_t place = at - before.begin();
  stage->is_touched = true;
  const auto [yo, yi] = stage->loops.split(y, y_factor, names[0], names[2]);
  const auto [xo, xi] = stage->loops.split(x, x_factor, names[1], names[3]);
  std::vector<std::size_t> order = stage->loops.order();
  const std::size_t blocks[] = {yo, xo, yi, xi};
  std::copy(std::begin(blocks), std::end(blocks), order.begin() + place);
  stage->loops.reorder(std::move(order));
  expect_sequence(*stage, args);
}

}  // namespace ferry::schedule
