#include "host/autoschedule/register_tile.h"

#include <algorithm>

namespace ferry::autoschedule {

namespace {

constexpr std::int64_t kMaxRows = 14;
constexpr std::int64_t kMaxVectors = 4;

// Cost factors of a tail in addition to its unused part: separate code for rows, and also masks for columns.
constexpr double kRowTail = 0.88, kColumnTail = 0.7;

// Returns the time of an extent's elements in whole tiles, as a share of that of its tiles.
double used_share(const TiledAxes& axes, std::int64_t extent, std::int64_t tile, double tail) {
  if (extent <= 0 || extent % tile == 0) return 1.0;
  const std::int64_t tiles = (extent + tile - 1) / tile;
  // A tail beside one whole tile costs as much in either way.
  const double whole_tiles =
      axes.counts_tails ? static_cast<double>(tiles - 2) + 2 / tail : static_cast<double>(tiles) / tail;
  return static_cast<double>(extent) / (whole_tiles * static_cast<double>(tile));
}

// Whether tiles may have so many rows.
bool divides_rows(std::int64_t rows, const TiledAxes& axes) {
  if (axes.rows <= 0 || rows <= axes.rows) return true;
  return rows % axes.rows == 0 && rows / axes.rows <= axes.outer_rows;
}

double rows_share(std::int64_t rows, const TiledAxes& axes) {
  if (axes.rows <= 0 || rows <= axes.rows) return used_share(axes, axes.rows, rows, kRowTail);
  return used_share(axes, axes.outer_rows, rows / axes.rows, kRowTail);
}

std::int64_t row_registers(std::int64_t rows, const TiledAxes& axes) {
  if (axes.rows_per_register == 0) return axes.row_registers;
  return (rows + axes.more_rows + axes.rows_per_register - 1) / axes.rows_per_register;
}

}  // namespace

std::vector<RegisterTile> register_tiles(std::uint32_t registers, const TiledAxes& axes) {
  const std::int64_t budget = std::max<std::int64_t>(static_cast<std::int64_t>(registers) - 1, 3);
  std::vector<RegisterTile> tiles;
  for (std::int64_t vectors = 1; vectors <= kMaxVectors; ++vectors) {
    for (std::int64_t rows = 1; rows <= (axes.has_rows ? kMaxRows : 1); ++rows) {
      const std::int64_t operands = vectors * axes.column_vectors * axes.vector_registers +
                                    rows * axes.registers_per_row + row_registers(rows, axes);
      if (rows * vectors * axes.vector_registers + operands > budget) break;
      if (divides_rows(rows, axes)) tiles.push_back({rows, vectors});
    }
  }
  return tiles;
}

RegisterTile choose_register_tile(std::uint32_t registers, const TiledAxes& axes) {
  RegisterTile best;
  double best_score = 0;
  for (const RegisterTile& tile : register_tiles(registers, axes)) {
    const auto [rows, vectors] = tile;
    const bool has_empty_vector = axes.columns > 0 && vectors > 1 && (vectors - 1) * axes.lanes >= axes.columns;
    if (has_empty_vector) continue;
    const std::int64_t loaded = vectors * axes.vector_registers, sums = rows * loaded;
    const double reuse = static_cast<double>(sums) /
                         (static_cast<double>(rows + axes.more_rows) + axes.vector_cost * static_cast<double>(loaded));
    // Two multiply-add units with a latency of four or five cycles need about ten independent chains.
    const double in_flight = std::min(1.0, static_cast<double>(sums) / 10.0);
    const double score =
        reuse * in_flight * rows_share(rows, axes) *
        used_share(axes, axes.columns, vectors * axes.lanes, axes.has_whole_vectors ? kRowTail : kColumnTail);
    if (score > best_score + 1e-9) {
      best_score = score;
      best = tile;
    }
  }
  return best;
}

}  // namespace ferry::autoschedule
