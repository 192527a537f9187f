#include "host/graph/plan/arena.h"

#include <algorithm>
#include <numeric>

namespace ferry::graph {
namespace {

bool meet(const ArenaBlock& a, const ArenaBlock& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

}  // namespace

std::vector<ArenaPlace> place_blocks(std::span<const ArenaBlock> blocks) {
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return blocks[a].bytes > blocks[b].bytes; });
  std::vector<ArenaPlace> places(blocks.size());
  std::vector<std::size_t> placed;  // by ascending offset
  const auto offset_of = [&](std::size_t block) { return places[block].offset; };
  for (const std::size_t block : order) {
    std::uint64_t at = 0;
    for (const std::size_t other : placed) {
      if (!meet(blocks[block], blocks[other])) continue;
      if (at + blocks[block].bytes <= offset_of(other)) break;
      at = std::max(at, offset_of(other) + blocks[other].bytes);
    }
    places[block].offset = at;
    placed.insert(std::ranges::upper_bound(placed, at, {}, offset_of), block);
  }
  // In the order of `placed`: of two blocks without bytes at one offset, the earlier one is below.
  for (std::size_t i = 0; i < placed.size(); ++i) {
    places[placed[i]].rank = i;
    std::vector<std::size_t>& below = places[placed[i]].below;
    for (std::size_t j = i; j-- > 0;) {
      const std::size_t other = placed[j];
      if (!meet(blocks[placed[i]], blocks[other])) continue;
      // A block that is below one of these already needs no mention.
      const bool is_implied = std::ranges::any_of(below, [&](std::size_t nearer) {
        return std::ranges::find(places[nearer].below, other) != places[nearer].below.end();
      });
      if (!is_implied) below.push_back(other);
    }
  }
  return places;
}

}  // namespace ferry::graph
