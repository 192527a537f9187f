// Chooses the number of rows and vectors of a reduction's results that are kept in registers at once.
#pragma once

#include <cstdint>
#include <vector>

namespace ferry::autoschedule {

struct RegisterTile {
  std::int64_t rows = 1;
  std::int64_t vectors = 1;
  bool operator==(const RegisterTile&) const = default;
};

// The axes that tiles divide. An extent of 0 is unknown.
struct TiledAxes {
  std::int64_t columns = 0, lanes = 1;
  bool has_rows = true;  // otherwise tiles have vectors only
  std::int64_t rows = 0;
  // Extent of the next axis over rows. A tile takes several of its iterations only together with all `rows`.
  std::int64_t outer_rows = 1;
  // Cost of loading a vector of columns, as a multiple of the cost of broadcasting an element of a row.
  double vector_cost = 1;
  bool has_whole_vectors = false;  // a tail of columns needs code of its own, but no masks
  bool counts_tails = false;       // the more tiles there are, the less their tail costs
  // Registers that a vector takes, as columns and as sums.
  std::int64_t vector_registers = 1;
  // Vectors of columns that are loaded at once for each one of a tile, and registers that a row's elements and
  // intermediate results take.
  std::int64_t column_vectors = 1, row_registers = 1;
  std::int64_t registers_per_row = 0;  // where elements of all rows of a tile stay in registers
  // Where elements of neighbouring rows are lanes of registers: how many of one, and how many elements a tile reads
  // beyond its rows.
  std::int64_t rows_per_register = 0, more_rows = 0;
};

// Returns the tiles that fit the registers.
std::vector<RegisterTile> register_tiles(std::uint32_t registers, const TiledAxes& axes);

// A tile of rows x vectors accumulators needs rows * vectors + vectors + 1 registers (usually: one vector of each
// column, one broadcast, and a register for each vector) and loads rows + vectors values for rows * vectors
// multiply-adds. Chooses the tile with the best ratio, weighted by its utilisation.
RegisterTile choose_register_tile(std::uint32_t registers, const TiledAxes& axes);

}  // namespace ferry::autoschedule
