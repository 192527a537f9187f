// Products of Intel's tile registers (AMX), TDPBSSD and its relatives, as instructions of the IR.
//
// Instruction::tile_dot adds to up to 2 x 2 tiles of sums, or 4 x 1, of 16 rows and 16 columns each:
//
//     for (mt < row tiles, mi < rows, nt < column tiles, ni < 16, kg < groups, ki < group)
//       if (mi < real rows of mt) C[mt, mi, nt, ni] += T(A[mt, mi, kg, ki]) * T(B[kg, nt, ni, ki])
//
// in any order of these loops in which ni is the innermost one over results; those that run once may be missing. A and
// B are bytes of any signs, with T = int32 and groups of 4, or bfloat16 with T = float32 and groups of 2. The elements
// along ki, along kg of A, and along (ni, ki) of B are contiguous, as are those along ni of C. There are up to 16 rows
// and up to 16 groups. Sums of floats may be added in another order, and subnormal numbers are flushed to 0.
//
// Instruction::tile_sums keeps the sums of the tile_dots in its definition in tile registers (passes/tensorize/
// tile_sums.h). It has no other effect than its definition, except that sums of rows that are not real are undefined.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ferry::passes {

// Rows of a tile, columns of a tile of 32-bit sums, and groups along the depth in a tile of factors.
inline constexpr std::int64_t kTileRows = 16, kTileColumns = 16, kTileGroups = 16;
inline constexpr std::int64_t kGroupBytes = 4;
// Bytes of a sum that one product of tiles adds.
inline constexpr std::int64_t kTileDepth = kTileGroups * kGroupBytes;
// Tiles of sums of one instruction, which has two tiles of rows and of columns, or up to four of rows and one of
// columns.
inline constexpr std::int64_t kMaxSums = 4, kMaxColumnTiles = 2;

// Whether the target has tiles for sums of this type, int32 or float32, of as many columns as its vectors have.
bool has_tiles(const Target& target, DType sum);

// The tiles of sums, which both instructions have.
struct SumTiles {
  std::int64_t row_tiles = 1, column_tiles = 1;
  std::int64_t full_rows = kTileRows, groups = kTileGroups;
  ir::Expr row_stride;                  // in elements
  std::span<const ir::Expr> rows;       // for each tile of rows the number of real ones, between 0 and full_rows
  std::span<const ir::Expr> sums;       // addresses, by rows
  std::span<const ir::Expr> arguments;  // those that stand for all of these fields
  std::span<const ir::Expr> rest;       // the instruction's other arguments
};
SumTiles sum_tiles(const ir::InstructionStmt& node);

struct TileDot {
  SumTiles tiles;
  ir::Expr a_stride, b_stride;  // elements from row to row of A, and from group to group of B
  std::span<const ir::Expr> a, b;
};
TileDot tile_dot(const ir::InstructionStmt& node);

// Whether a tile_sums' sums start from 0; its definition is then a block whose first statement stores the zeros.
bool starts_at_zero(const ir::InstructionStmt& tile_sums);

// Returns a tile_dot's statement for this definition. Throws CompileError "expected X, got Y".
ir::Stmt match_tile_dot(const ir::Stmt& definition);

}  // namespace ferry::passes
