#include "crosscompile/passes/tensorize/tile_dot.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "crosscompile/passes/tensorize/match_nest.h"
#include "ferry/operators.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace ferry::passes {
namespace {

using namespace ir;

constexpr std::size_t kNumbers = 5;  // the arguments before the numbers of rows

// A loop of the nest, and how far its iterations are apart in the three operands.
struct TileLoop {
  Expr var;
  std::int64_t extent = 1;
  Expr sums = Expr(0), a = Expr(0), b = Expr(0);
};

// The loops by their place in the definition of tile_dot; those that are missing run once.
struct TileLoops {
  TileLoop row_tiles, rows, column_tiles, columns, groups, group;
};

struct Operands {
  const Load *a = nullptr, *b = nullptr;
  AffineAccess sums, at_a, at_b;
};

std::string got(const Expr& expr) { return ", got '" + to_text(expr) + "'"; }

bool is_byte(DType type) { return type == DType::i8 || type == DType::u8; }

// Returns the load of which the factor is a conversion to T, or null.
const Load* factor_of(const Expr& value, DType sum) {
  const auto* cast = value.as<Cast>();
  if (cast == nullptr || cast->type != Type(sum)) return nullptr;
  const auto* load = cast->value.as<Load>();
  if (load == nullptr || load->mask.defined()) return nullptr;
  return (sum == DType::i32 ? is_byte(load->type.code) : load->type.code == DType::bf16) ? load : nullptr;
}

std::pair<const Load*, const Load*> factors_of(const Store& store) {
  const DType sum = store.value.type().code;
  const auto is_sum = [&](const Expr& value) {
    const auto* load = value.as<Load>();
    return load != nullptr && load->buffer == store.buffer && !load->mask.defined() &&
           std::ranges::equal(load->indices, store.indices, [](const Expr& x, const Expr& y) { return equal(x, y); });
  };
  const auto* add = store.value.as<Binary>();
  if (add != nullptr && add->op == BinaryOp::add && (sum == DType::i32 || sum == DType::f32) &&
      (is_sum(add->left) || is_sum(add->right))) {
    const auto* product = (is_sum(add->left) ? add->right : add->left).as<Binary>();
    if (product != nullptr && product->op == BinaryOp::mul) {
      const std::pair loads(factor_of(product->left, sum), factor_of(product->right, sum));
      if (loads.first != nullptr && loads.second != nullptr) return loads;
    }
  }
  throw CompileError(
      "expected a sum in int32 of products of bytes, int(A[m, k]) * int(B[k, n]), or one in float32 of products of "
      "bfloat16" +
      got(store.value));
}

AffineAccess access_of(const BufferRef& buffer, const std::vector<Expr>& indices, const LoopNest& nest) {
  std::string mismatch;
  auto access = affine_access(buffer, indices, nest.loops, mismatch);
  if (!access) throw CompileError(mismatch);
  return *access;
}

bool moves(const Expr& stride) { return !is_constant(stride, 0); }

// Finds out which factor has the columns: the one that moves along the loop along which sums are contiguous.
Operands operands_of(const LoopNest& nest) {
  const Store& store = *nest.store.as<Store>();
  const auto [first, second] = factors_of(store);
  Operands operands{first, second, access_of(store.buffer, store.indices, nest),
                    access_of(first->buffer, first->indices, nest), access_of(second->buffer, second->indices, nest)};
  for (std::size_t i = 0; i < nest.loops.size(); ++i) {
    if (!is_constant(operands.sums.strides[i], 1) || !moves(operands.at_a.strides[i])) continue;
    std::swap(operands.a, operands.b);
    std::swap(operands.at_a, operands.at_b);
    break;
  }
  return operands;
}

TileLoops loops_of(const LoopNest& nest, const Operands& operands) {
  std::vector<TileLoop> rows, columns, depth;
  for (std::size_t i = 0; i < nest.loops.size(); ++i) {
    const TileLoop loop{nest.loops[i].var, nest.loops[i].extent, operands.sums.strides[i], operands.at_a.strides[i],
                        operands.at_b.strides[i]};
    const bool in_sums = moves(loop.sums), in_a = moves(loop.a), in_b = moves(loop.b);
    // Where only the first iteration counts, the indices need not move.
    const bool is_ended =
        std::ranges::any_of(nest.conditions, [&](const Expr& condition) { return uses_var(condition, loop.var); });
    if (!in_b && ((in_sums && in_a) || is_ended))
      rows.push_back(loop);
    else if (in_sums && in_b && !in_a)
      columns.push_back(loop);
    else if (!in_sums && in_a && in_b)
      depth.push_back(loop);
    else
      throw CompileError(
          "expected loops over rows, which only one factor has, over columns, which only the other has, "
          "and over the depth, got '" +
          to_text(loop.var) + "'");
  }
  const auto expect = [](bool is_so, const std::string& what, const std::vector<TileLoop>& loops) {
    if (is_so) return;
    std::string extents;
    for (const TileLoop& loop : loops)
      extents += (extents.empty() ? "" : ", ") + to_text(loop.var) + " in " + std::to_string(loop.extent);
    throw CompileError("expected " + what + ", got loops (" + extents + ")");
  };
  const std::int64_t group = kGroupBytes / static_cast<std::int64_t>(dtype_bytes(operands.a->type.code));
  TileLoops loops;
  // The innermost loop of each kind moves within a tile.
  expect(rows.size() <= 2, "at most four tiles of at most 16 rows", rows);
  if (!rows.empty()) loops.rows = rows.back();
  if (rows.size() == 2) loops.row_tiles = rows.front();
  expect(loops.rows.extent <= kTileRows && loops.row_tiles.extent <= kMaxSums, "at most four tiles of at most 16 rows",
         rows);
  expect(!columns.empty() && columns.size() <= 2 && columns.back().extent == kTileColumns,
         "one or two tiles of 16 columns", columns);
  loops.columns = columns.back();
  if (columns.size() == 2) loops.column_tiles = columns.front();
  expect(loops.column_tiles.extent <= kMaxColumnTiles, "one or two tiles of 16 columns", columns);
  expect(loops.row_tiles.extent * loops.column_tiles.extent <= kMaxSums,
         "one tile of 16 columns for more than two tiles of rows", columns);
  expect(!depth.empty() && depth.size() <= 2 && depth.back().extent == group,
         "a sum of at most 16 groups of " + std::to_string(group), depth);
  loops.group = depth.back();
  if (depth.size() == 2) loops.groups = depth.front();
  expect(loops.groups.extent <= kTileGroups, "a sum of at most 16 groups of " + std::to_string(group), depth);
  return loops;
}

void check_layout(const TileLoops& loops, const Operands& operands, const BufferRef& sums) {
  const std::int64_t group = loops.group.extent;
  const auto expect = [](const BufferRef& buffer, const TileLoop& along, const Expr& stride, std::int64_t want) {
    if (along.extent == 1 || is_constant(stride, want)) return;
    throw CompileError("expected the elements of '" + buffer->name + "' to be " + std::to_string(want) +
                       " apart along '" + to_text(along.var) + "', got " + to_text(stride));
  };
  expect(sums, loops.columns, loops.columns.sums, 1);
  expect(operands.a->buffer, loops.group, loops.group.a, 1);
  expect(operands.a->buffer, loops.groups, loops.groups.a, group);
  expect(operands.b->buffer, loops.group, loops.group.b, 1);
  expect(operands.b->buffer, loops.columns, loops.columns.b, group);
}

void split_and(const Expr& condition, std::vector<Expr>& parts) {
  const auto* both = condition.as<Binary>();
  if (both == nullptr || both->op != BinaryOp::logical_and) return parts.push_back(condition);
  split_and(both->left, parts);
  split_and(both->right, parts);
}

// Returns X if the condition is `var` < X, for a tile of rows; nothing if it has another form.
std::optional<Expr> bound_of(const Expr& condition, const Expr& var) {
  const auto* compare = condition.as<Binary>();
  if (compare == nullptr) return std::nullopt;
  Expr difference;
  if (compare->op == BinaryOp::lt) difference = compare->right - compare->left;
  if (compare->op == BinaryOp::le) difference = compare->right - compare->left + 1;
  if (compare->op == BinaryOp::gt) difference = compare->left - compare->right;
  if (compare->op == BinaryOp::ge) difference = compare->left - compare->right + 1;
  if (!difference.defined()) return std::nullopt;
  const auto affine = analysis::affine_in(simplify(difference), var);
  if (!affine || affine->coefficient != -1) return std::nullopt;
  return affine->rest;
}

// Splits the conditions into those that hold for all iterations or for none, which are left in `conditions`, and those
// that end tiles of rows; returns the number of real rows of each tile.
std::vector<Expr> real_rows(const TileLoops& loops, std::vector<Expr>& conditions) {
  std::vector<Expr> parts, others, rows(static_cast<std::size_t>(loops.row_tiles.extent), Expr(loops.rows.extent));
  for (const Expr& condition : conditions) split_and(condition, parts);
  const auto uses = [](const Expr& expr, const TileLoop& loop) {
    return loop.var.defined() && uses_var(expr, loop.var);
  };
  for (const Expr& part : parts) {
    for (const TileLoop* loop : {&loops.column_tiles, &loops.columns, &loops.groups, &loops.group}) {
      if (uses(part, *loop))
        throw CompileError("expected every iteration of '" + to_text(loop->var) + "' to count" + got(part) +
                           "; pad what its axis was");
    }
    if (!uses(part, loops.rows) && !uses(part, loops.row_tiles)) {
      others.push_back(part);
      continue;
    }
    for (std::size_t tile = 0; tile < rows.size(); ++tile) {
      Expr here = part;
      if (loops.row_tiles.var.defined())
        here = simplify(substitute(part, {{loops.row_tiles.var.get(), Expr(static_cast<std::int64_t>(tile))}}));
      if (!uses(here, loops.rows)) {
        rows[tile] = select(here, rows[tile], Expr(0));
        continue;
      }
      const auto bound = bound_of(here, loops.rows.var);
      if (!bound) throw CompileError("expected conditions that omit rows at the end of a tile" + got(here));
      rows[tile] = min(rows[tile], *bound);
    }
  }
  for (Expr& count : rows) count = simplify(max(count, Expr(0)));
  conditions = std::move(others);
  return rows;
}

Expr moved(const AffineAccess& access, const Expr& stride, std::int64_t times) {
  return simplify(access.base + Expr(times) * stride);
}

SumTiles decoded(std::span<const Expr> arguments) {
  SumTiles tiles;
  tiles.row_tiles = *as_int(arguments[0]);
  tiles.column_tiles = *as_int(arguments[1]);
  tiles.full_rows = *as_int(arguments[2]);
  tiles.groups = *as_int(arguments[3]);
  tiles.row_stride = arguments[4];
  const auto rows = static_cast<std::size_t>(tiles.row_tiles);
  const auto sums = static_cast<std::size_t>(tiles.row_tiles * tiles.column_tiles);
  tiles.rows = arguments.subspan(kNumbers, rows);
  tiles.sums = arguments.subspan(kNumbers + rows, sums);
  tiles.arguments = arguments.first(kNumbers + rows + sums);
  tiles.rest = arguments.subspan(kNumbers + rows + sums);
  return tiles;
}

}  // namespace

bool has_tiles(const Target& target, DType sum) {
  const bool has_type = sum == DType::f32 ? target.capabilities.amx_bf16 : target.capabilities.amx_int8;
  return has_type && target.lanes(static_cast<std::uint32_t>(dtype_bytes(sum))) == kTileColumns;
}

SumTiles sum_tiles(const InstructionStmt& node) { return decoded(node.arguments); }

TileDot tile_dot(const InstructionStmt& node) {
  constexpr std::size_t kStrides = 2;
  TileDot dot{.tiles = sum_tiles(node), .a_stride = {}, .b_stride = {}, .a = {}, .b = {}};
  const std::span<const Expr> rest = dot.tiles.rest;
  const auto rows = static_cast<std::size_t>(dot.tiles.row_tiles);
  dot.a_stride = rest[0];
  dot.b_stride = rest[1];
  dot.a = rest.subspan(kStrides, rows);
  dot.b = rest.subspan(kStrides + rows);
  return dot;
}

bool starts_at_zero(const InstructionStmt& tile_sums) { return is_constant(sum_tiles(tile_sums).rest[0], 1); }

Stmt match_tile_dot(const Stmt& definition) {
  auto nest = as_nest(definition);
  if (!nest) throw CompileError("expected one store inside of loops of constant extents");
  const BufferRef sums = nest->store.as<Store>()->buffer;
  const Operands operands = operands_of(*nest);
  const TileLoops loops = loops_of(*nest, operands);
  check_layout(loops, operands, sums);
  std::vector<Expr> conditions = nest->conditions;
  const std::vector<Expr> rows = real_rows(loops, conditions);
  std::vector<Expr> arguments{Expr(loops.row_tiles.extent), Expr(loops.column_tiles.extent), Expr(loops.rows.extent),
                              Expr(loops.groups.extent), loops.rows.sums};
  arguments.insert(arguments.end(), rows.begin(), rows.end());
  for (std::int64_t i = 0; i < loops.row_tiles.extent; ++i)
    for (std::int64_t j = 0; j < loops.column_tiles.extent; ++j)
      arguments.push_back(address_of(
          sums, {simplify(operands.sums.base + Expr(i) * loops.row_tiles.sums + Expr(j) * loops.column_tiles.sums)}));
  arguments.insert(arguments.end(), {loops.rows.a, loops.groups.b});
  for (std::int64_t i = 0; i < loops.row_tiles.extent; ++i)
    arguments.push_back(address_of(operands.a->buffer, {moved(operands.at_a, loops.row_tiles.a, i)}));
  for (std::int64_t j = 0; j < loops.column_tiles.extent; ++j)
    arguments.push_back(address_of(operands.b->buffer, {moved(operands.at_b, loops.column_tiles.b, j)}));
  Stmt result = InstructionStmt::make(Instruction::tile_dot, std::move(arguments), definition);
  for (const Expr& condition : conditions) result = If::make(condition, std::move(result));
  return result;
}

}  // namespace ferry::passes
