// Chooses the number of rows and vectors of a reduction's results that are kept in registers at once.
#pragma once

#include <cstdint>
#include <vector>

namespace ferry::autoschedule {

struct RegisterTile {
  std::int64_t rows = 1;
  std::int64_t vectors = 1;
};

// Returns the tiles that fit the registers; the arguments are those of choose_register_tile().
std::vector<RegisterTile> register_tiles(std::uint32_t registers, std::int64_t row_extent, bool there_are_rows);

// A tile of rows x vectors accumulators needs rows * vectors + vectors + 1 registers (one vector of each column, one
// broadcast) and loads rows + vectors values for rows * vectors multiply-adds. Chooses the tile with the best ratio,
// weighted by its utilisation. An extent of 0 means unknown; without `there_are_rows` the tile has vectors only.
RegisterTile choose_register_tile(std::uint32_t registers, std::int64_t row_extent, bool there_are_rows,
                                  std::int64_t column_extent, std::int64_t lanes);

}  // namespace ferry::autoschedule
