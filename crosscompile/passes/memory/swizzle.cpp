#include "crosscompile/passes/memory/swizzle.h"

#include "crosscompile/ir/error.h"
#include "ferry/operators.h"

#include <algorithm>

namespace ferry::passes {

using namespace ir;

namespace {

constexpr std::int64_t kPieceBytes = 16, kPieces = 8;

std::int64_t piece_of(DType type) { return kPieceBytes / static_cast<std::int64_t>(dtype_bytes(type)); }

}  // namespace

Expr swizzled(const Buffer& buffer, const Expr& position) {
  const std::int64_t* row = buffer.shape.empty() ? nullptr : as_int(buffer.shape.back());
  if (row == nullptr || !can_swizzle(buffer.dtype, *row))
    throw InternalError("'" + buffer.name + "' has rows that cannot be swizzled");
  const std::int64_t piece = piece_of(buffer.dtype), pieces = *row / piece;
  const std::int64_t line = std::max(pieces, kPieces) * piece, places = std::min(pieces, kPieces);
  return position ^ (position / Expr(line) % Expr(places) * Expr(piece));
}

std::int64_t swizzled_piece(const Buffer& buffer) { return piece_of(buffer.dtype); }

bool can_swizzle(DType type, std::int64_t row) {
  const std::int64_t pieces = row / piece_of(type);
  return row % piece_of(type) == 0 && pieces > 1 && (pieces & (pieces - 1)) == 0;
}

}  // namespace ferry::passes
