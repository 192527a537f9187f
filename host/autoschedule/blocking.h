// Chooses how blocked contractions are tiled, ordered, packed and prefetched.
#pragma once

#include "host/autoschedule/register_tile.h"
#include "host/autoschedule/rule.h"

#include <cstdint>

namespace ferry::autoschedule {

// Where the epilogue of a product is computed: after each register tile, by a copy of its code for each row or in a
// loop over the rows, or after the whole product.
enum class EpiloguePlace : std::uint8_t { unrolled, loop, apart };

// A point of the space of match_blocked_contraction().
struct Blocking {
  RegisterTile tile;
  std::int64_t lanes = 1;
  bool columns_outermost = true;
  std::int64_t depth_block = 0;  // the whole depth, or less
  std::int64_t steps = 1;        // the innermost loop has a copy of its body for each of so many along the depth
  bool packs_columns = true, packs_rows = false;
  std::int64_t steps_ahead = 0;  // how far ahead packed columns are prefetched
  bool prefetches_next = false;  // the next panel of packed columns is prefetched instead, if columns are outermost
  EpiloguePlace epilogue = EpiloguePlace::unrolled;  // with blocks of the depth it is always apart
  bool is_parallel = true;

  // Whether an epilogue of a sum of this depth is computed in the loops of the tiles.
  bool fuses(std::int64_t depth) const { return depth_block == depth && epilogue != EpiloguePlace::apart; }
};

// Returns the blocking of the default schedule. Columns of unknown extents are packed: what is missing of their last
// vectors is not loaded then.
Blocking default_blocking(const schedule::ScheduledStage& stage, const Contraction& contraction, std::int64_t lanes,
                          const Target& target, bool has_known_extents);

// Returns the knobs of match_blocked_contraction(), with the default blocking as their defaults.
Space space_of(const Contraction& contraction, const Blocking& by_default, const StageContext& context);
// Returns the blocking that a point of this space selects.
Blocking blocking_at(const Point& point, std::int64_t lanes);

}  // namespace ferry::autoschedule
