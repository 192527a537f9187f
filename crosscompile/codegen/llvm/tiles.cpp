#include "crosscompile/codegen/llvm/tiles.h"

#include "crosscompile/codegen/llvm/expr/expressions.h"
#include "crosscompile/codegen/llvm/memory/memory.h"
#include "crosscompile/codegen/llvm/statements.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/passes/tensorize/tile_dot.h"
#include "ferry/operators.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>

namespace ferry::codegen {
namespace {

using llvm::Value;
using passes::SumTiles;
using passes::TileDot;
namespace Intrinsic = llvm::Intrinsic;

// Registers of 2 x 2 tiles of sums, of up to two tiles of rows of A and of columns of B.
constexpr std::int64_t kSquare = 2;
// Registers of three or four tiles of sums in one column of tiles. All tiles of rows are full but the last, whose rows
// of A have a register of their own; the others use two in turns.
constexpr std::uint8_t kTallA = 4, kLastTallA = 6, kTallB = 7;

bool is_tall(std::int64_t row_tiles) { return row_tiles > kSquare; }

std::uint8_t sum_register(std::int64_t row_tiles, std::int64_t i, std::int64_t j) {
  return static_cast<std::uint8_t>(is_tall(row_tiles) ? i : i * kSquare + j);
}
std::uint8_t a_register(std::int64_t row_tiles, std::int64_t i) {
  if (!is_tall(row_tiles)) return static_cast<std::uint8_t>(kSquare * kSquare + i);
  return i + 1 == row_tiles ? kLastTallA : static_cast<std::uint8_t>(kTallA + i % 2);
}
std::uint8_t b_register(std::int64_t row_tiles, std::int64_t j) {
  return is_tall(row_tiles) ? kTallB : static_cast<std::uint8_t>(kSquare * (kSquare + 1) + j);
}

// The operand of LDTILECFG for palette 1: bytes of a row of each tile, as int16, and its number of rows.
constexpr std::size_t kConfigurationBytes = 64, kPalette = 0, kRowBytes = 16, kRows = 48;
constexpr std::uint8_t kFullRowBytes = 64;
using Configuration = std::array<std::uint8_t, kConfigurationBytes>;

// Tiles of rows that are emitted together, and their numbers of real rows.
struct RowTiles {
  std::int64_t first = 0, count = 1;
  Value *first_rows = nullptr, *last_rows = nullptr;  // the latter of the last tile, the former of those before

  std::int64_t columns() const { return is_tall(count) ? 1 : kSquare; }
};

// The configuration with no rows of A and of sums.
Configuration configuration_for(std::int64_t groups, std::int64_t row_tiles) {
  Configuration bytes{};
  bytes[kPalette] = 1;
  const auto set = [&](std::uint8_t tile, std::uint8_t row_bytes, std::uint8_t rows) {
    bytes[kRowBytes + 2 * std::size_t{tile}] = row_bytes;
    bytes[kRows + std::size_t{tile}] = rows;
  };
  const std::int64_t rows = std::max(row_tiles, kSquare), columns = is_tall(row_tiles) ? 1 : kSquare;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) set(sum_register(rows, i, j), kFullRowBytes, 0);
    set(a_register(rows, i), static_cast<std::uint8_t>(groups * passes::kGroupBytes), 0);
  }
  for (std::int64_t j = 0; j < columns; ++j) set(b_register(rows, j), kFullRowBytes, static_cast<std::uint8_t>(groups));
  return bytes;
}

llvm::AllocaInst* shape_of_tiles(FunctionState& state) {
  if (state.tile_shape != nullptr) return state.tile_shape;
  llvm::IRBuilder<>& b = state.builder;
  state.tile_shape = state.entry_alloca(b.getInt32Ty(), llvm::Align(4), "tile_shape");
  llvm::IRBuilder<> entry(state.tile_shape->getParent(), std::next(state.tile_shape->getIterator()));
  entry.CreateStore(b.getInt32(0), state.tile_shape);
  return state.tile_shape;
}

Value* numbers(FunctionState& state, const Configuration& bytes) {
  return llvm::ConstantDataVector::get(state.context(), llvm::ArrayRef<std::uint8_t>(bytes));
}

// Loads the configuration for tiles with so many rows, unless it is loaded already. A single tile of rows leaves it
// open what the second one has.
void configure(FunctionState& state, std::int64_t groups, const RowTiles& tiles) {
  llvm::IRBuilder<>& b = state.builder;
  llvm::AllocaInst* shape = shape_of_tiles(state);
  Value* first = b.CreateTrunc(tiles.first_rows, b.getInt32Ty());
  Value* last = b.CreateTrunc(tiles.last_rows, b.getInt32Ty());
  const auto tall = static_cast<std::uint32_t>(is_tall(tiles.count) ? tiles.count : 0);
  Value* wanted = b.CreateOr(b.CreateOr(b.getInt32(tall << 24U | static_cast<std::uint32_t>(groups) << 16U), first),
                             b.CreateShl(last, std::uint64_t{8}));
  Value* difference = b.CreateXor(b.CreateLoad(b.getInt32Ty(), shape), wanted);
  if (tiles.count == 1) difference = b.CreateAnd(difference, b.getInt32(0xffff00ff));
  llvm::BasicBlock* load = state.new_block("tiles.configure");
  llvm::BasicBlock* loaded = state.new_block("tiles.configured");
  b.CreateCondBr(b.CreateIsNotNull(difference), load, loaded);
  b.SetInsertPoint(load);
  Value* bytes = numbers(state, configuration_for(groups, tiles.count));
  const std::int64_t rows = std::max(tiles.count, kSquare);
  for (std::int64_t i = 0; i < rows; ++i) {
    Value* count = b.CreateTrunc(i + 1 == rows ? last : first, b.getInt8Ty());
    for (std::int64_t j = 0; j < tiles.columns(); ++j)
      bytes = b.CreateInsertElement(bytes, count, kRows + std::uint64_t{sum_register(rows, i, j)});
    bytes = b.CreateInsertElement(bytes, count, kRows + std::uint64_t{a_register(rows, i)});
  }
  llvm::AllocaInst* memory = state.entry_alloca(bytes->getType(), llvm::Align(kConfigurationBytes), "tile_config");
  b.CreateStore(bytes, memory);
  b.CreateIntrinsic(Intrinsic::x86_ldtilecfg, {}, {memory});
  b.CreateStore(wanted, shape);
  b.CreateBr(loaded);
  b.SetInsertPoint(loaded);
}

Value* address_of(FunctionState& state, const ir::Expr& address) {
  return emit_address(state, *ir::addressed(address));
}

DType type_of(const ir::Expr& address) { return ir::addressed(address)->buffer->dtype; }

// Returns the bytes between rows that are so many elements apart.
Value* stride_bytes(FunctionState& state, const ir::Expr& stride, const ir::Expr& address) {
  return state.builder.CreateMul(emit_expr(state, stride), state.builder.getInt64(dtype_bytes(type_of(address))));
}

void load_tile(FunctionState& state, std::uint8_t tile, const ir::Expr& address, Value* stride) {
  llvm::IRBuilder<>& b = state.builder;
  b.CreateIntrinsic(Intrinsic::x86_tileloadd64, {}, {b.getInt8(tile), address_of(state, address), stride});
}

// Calls `each` for the sums of these tiles of rows, with their registers and addresses.
void for_each_sum(const SumTiles& sums, const RowTiles& tiles,
                  const std::function<void(std::uint8_t, const ir::Expr&)>& each) {
  for (std::int64_t i = 0; i < tiles.count; ++i)
    for (std::int64_t j = 0; j < sums.column_tiles; ++j)
      each(sum_register(tiles.count, i, j),
           sums.sums[static_cast<std::size_t>((tiles.first + i) * sums.column_tiles + j)]);
}

// Emits the definition with these tiles of rows, as if the others had no real rows.
void emit_with(FunctionState& state, const ir::InstructionStmt& node, const SumTiles& sums, const RowTiles& tiles) {
  llvm::IRBuilder<>& b = state.builder;
  configure(state, sums.groups, tiles);
  Value* stride = stride_bytes(state, sums.row_stride, sums.sums[0]);
  const bool from_zero = passes::starts_at_zero(node);
  for_each_sum(sums, tiles, [&](std::uint8_t tile, const ir::Expr& address) {
    if (from_zero)
      b.CreateIntrinsic(Intrinsic::x86_tilezero, {}, {b.getInt8(tile)});
    else
      load_tile(state, tile, address, stride);
  });
  const std::int64_t outer_first = std::exchange(state.first_row_tile, tiles.first);
  const std::int64_t outer = std::exchange(state.row_tiles, tiles.count);
  if (from_zero) {
    // A sum over nothing consists of the zeros alone.
    if (const auto* steps = node.definition.as<ir::Block>())
      for (std::size_t i = 1; i < steps->body.size(); ++i) emit_stmt(state, steps->body[i]);
  } else {
    emit_stmt(state, node.definition);
  }
  state.first_row_tile = outer_first;
  state.row_tiles = outer;
  for_each_sum(sums, tiles, [&](std::uint8_t tile, const ir::Expr& address) {
    b.CreateIntrinsic(Intrinsic::x86_tilestored64, {}, {b.getInt8(tile), address_of(state, address), stride});
  });
}

// Emits `then` where the condition holds, which may be known, and `otherwise` elsewhere.
void branch(FunctionState& state, Value* condition, const std::function<void()>& then,
            const std::function<void()>& otherwise) {
  llvm::IRBuilder<>& b = state.builder;
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) return known->isZero() ? otherwise() : then();
  llvm::BasicBlock* some = state.new_block("tiles.rows");
  llvm::BasicBlock* none = state.new_block("tiles.no_rows");
  llvm::BasicBlock* end = state.new_block("tiles.end");
  b.CreateCondBr(condition, some, none);
  b.SetInsertPoint(some);
  then();
  b.CreateBr(end);
  b.SetInsertPoint(none);
  otherwise();
  b.CreateBr(end);
  b.SetInsertPoint(end);
}

// Emits one or two tiles of rows, with any numbers of real rows.
void emit_pair(FunctionState& state, const ir::InstructionStmt& node, const SumTiles& sums, std::int64_t first,
               llvm::ArrayRef<Value*> rows) {
  llvm::IRBuilder<>& b = state.builder;
  const auto each = [&] {
    for (std::size_t i = 0; i < rows.size(); ++i)
      branch(
          state, b.CreateIsNotNull(rows[i]),
          [&] { emit_with(state, node, sums, {first + static_cast<std::int64_t>(i), 1, rows[i], rows[i]}); }, [] {});
  };
  if (rows.size() == 1) return each();
  Value* both = b.CreateAnd(b.CreateIsNotNull(rows[0]), b.CreateIsNotNull(rows[1]));
  branch(state, both, [&] { emit_with(state, node, sums, {first, 2, rows[0], rows[1]}); }, each);
}

// Emits the first tiles of rows together if these alone have real rows and all but the last are full.
void emit_together(FunctionState& state, const ir::InstructionStmt& node, const SumTiles& sums, std::size_t count,
                   llvm::ArrayRef<Value*> rows) {
  llvm::IRBuilder<>& b = state.builder;
  if (count <= kSquare) {
    for (std::size_t i = 0; i < rows.size(); i += kSquare)
      emit_pair(state, node, sums, static_cast<std::int64_t>(i),
                rows.slice(i, std::min<std::size_t>(kSquare, rows.size() - i)));
    return;
  }
  Value* full = b.getInt64(static_cast<std::uint64_t>(sums.full_rows));
  Value* fits = b.CreateIsNotNull(rows[count - 1]);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + 1 < count) fits = b.CreateAnd(fits, b.CreateICmpEQ(rows[i], full));
    if (i >= count) fits = b.CreateAnd(fits, b.CreateIsNull(rows[i]));
  }
  branch(
      state, fits, [&] { emit_with(state, node, sums, {0, static_cast<std::int64_t>(count), full, rows[count - 1]}); },
      [&] { emit_together(state, node, sums, count - 1, rows); });
}

Intrinsic::ID product_of(DType a, DType b) {
  if (a == DType::bf16) return Intrinsic::x86_tdpbf16ps;
  if (a == DType::i8) return b == DType::i8 ? Intrinsic::x86_tdpbssd : Intrinsic::x86_tdpbsud;
  return b == DType::i8 ? Intrinsic::x86_tdpbusd : Intrinsic::x86_tdpbuud;
}

}  // namespace

void emit_tile_sums(FunctionState& state, const ir::InstructionStmt& node) {
  state.uses_tiles = true;
  llvm::SmallVector<Value*, passes::kMaxSums> rows;
  const SumTiles sums = passes::sum_tiles(node);
  for (const ir::Expr& count : sums.rows) rows.push_back(emit_expr(state, count));
  emit_together(state, node, sums, rows.size(), rows);
}

void emit_tile_dot(FunctionState& state, const ir::InstructionStmt& node) {
  if (state.row_tiles == 0) throw InternalError("a tile_dot outside of tile_sums reached code generation");
  llvm::IRBuilder<>& b = state.builder;
  const TileDot dot = passes::tile_dot(node);
  const Intrinsic::ID product = product_of(type_of(dot.a[0]), type_of(dot.b[0]));
  Value* a_stride = stride_bytes(state, dot.a_stride, dot.a[0]);
  Value* b_stride = stride_bytes(state, dot.b_stride, dot.b[0]);
  const std::int64_t tiles = state.row_tiles;
  for (std::int64_t i = 0; i < tiles; ++i) {
    const std::uint8_t a = a_register(tiles, i);
    load_tile(state, a, dot.a[static_cast<std::size_t>(state.first_row_tile + i)], a_stride);
    for (std::int64_t j = 0; j < dot.tiles.column_tiles; ++j) {
      const std::uint8_t columns = b_register(tiles, j);
      if (i == 0) load_tile(state, columns, dot.b[static_cast<std::size_t>(j)], b_stride);
      b.CreateIntrinsic(product, {}, {b.getInt8(sum_register(tiles, i, j)), b.getInt8(a), b.getInt8(columns)});
    }
  }
}

void forget_tiles(FunctionState& state) {
  const Capabilities& can = state.module.target.capabilities;
  if (!can.amx_int8 && !can.amx_bf16) return;
  state.builder.CreateStore(state.builder.getInt32(0), shape_of_tiles(state));
}

void release_tiles(FunctionState& state) {
  if (!state.uses_tiles) return;
  for (llvm::BasicBlock& block : *state.function) {
    if (auto* leave = llvm::dyn_cast_or_null<llvm::ReturnInst>(block.getTerminator()))
      llvm::IRBuilder<>(leave).CreateIntrinsic(Intrinsic::x86_tilerelease, {}, {});
  }
}

}  // namespace ferry::codegen
