#include "host/schedule/streamed_product.h"

#include <algorithm>

namespace ferry::schedule {

namespace {

constexpr std::int64_t kMaxRows = 12;
constexpr std::int64_t kMinDepth = 64;
// Long enough for rows of the matrix to be read in long stretches, and a few for threads to share.
constexpr std::int64_t kColumns = 2048;
constexpr std::int64_t kSteps = 8;

}  // namespace

bool wants_streaming(const Product& product, std::int64_t lanes, const Target& target) {
  return lanes > 1 && product.is_column_contiguous && product.rows <= kMaxRows && product.depth >= kMinDepth &&
         product.columns >= 4 * lanes && product.column_bytes > static_cast<std::int64_t>(target.l2_bytes);
}

void schedule_streamed(StageHandle handle, const ScheduledStage& stage, const Product& product, std::int64_t lanes) {
  const StageLoops loops = stage.loops;
  std::vector<std::string> outside, tile;
  for (std::size_t a = 0; a < stage.axes.size(); ++a) {
    if (a == product.column) continue;
    const std::string name = loops.loop(loops.spatial(a)).name;
    if (a != product.row) {
      outside.push_back(name);
      continue;
    }
    // A tile of as many rows as there are, which other sizes may repeat.
    const auto [blocks, rows] = handle.split(name, product.rows);
    outside.push_back(blocks);
    tile.push_back(rows);
  }
  const auto [chunks, chunk] = handle.split(loops.loop(loops.spatial(product.column)).name,
                                            std::min(kColumns, (product.columns + lanes - 1) / lanes * lanes));
  const auto [vectors, lane] = handle.split(chunk, lanes);
  std::vector<std::string> order = outside;
  order.push_back(chunks);
  const std::size_t depth_axes = stage.reduction()->axes.size();
  for (std::size_t a = 0; a + 1 < depth_axes; ++a) order.push_back(loops.loop(loops.reduction(a)).name);
  const auto [blocks, step] = handle.split(loops.loop(loops.reduction(depth_axes - 1)).name, kSteps);
  order.insert(order.end(), {blocks, vectors, step});
  order.insert(order.end(), tile.begin(), tile.end());
  order.push_back(lane);
  handle.reorder(order).unroll(step).vectorize(lane);
  for (const std::string& name : tile) handle.unroll(name);
}

}  // namespace ferry::schedule
