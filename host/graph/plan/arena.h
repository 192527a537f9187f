// Places in one workspace for blocks that are needed during different steps: those needed at the same time are apart,
// others share bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ferry::graph {

struct ArenaBlock {
  std::uint64_t bytes = 0;                    // likely size, a multiple of the alignment
  std::size_t first_step = 0, last_step = 0;  // during which it is needed, both included
};

struct ArenaPlace {
  std::uint64_t offset = 0;        // for the likely sizes
  std::size_t rank = 0;            // in an order in which a block comes after those below it
  std::vector<std::size_t> below;  // blocks directly below that are needed at the same time
};

// Places large blocks first, each at the lowest offset where it fits (Pisarchyk and Lee, "Efficient memory management
// for deep neural net inference", 2020: greedy by size). For other sizes the order stays: an offset is the greatest end
// of the blocks below.
std::vector<ArenaPlace> place_blocks(std::span<const ArenaBlock> blocks);

}  // namespace ferry::graph
