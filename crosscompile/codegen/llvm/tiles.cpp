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

#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>

namespace ferry::codegen {
namespace {

using llvm::Value;
using passes::kMaxTiles;
using passes::SumTiles;
using passes::TileDot;
namespace Intrinsic = llvm::Intrinsic;

// The registers: sums of the tiles of rows i and columns j, rows of A, and columns of B.
std::uint8_t sum_register(std::int64_t i, std::int64_t j) { return static_cast<std::uint8_t>(i * kMaxTiles + j); }
std::uint8_t a_register(std::int64_t i) { return static_cast<std::uint8_t>(kMaxTiles * kMaxTiles + i); }
std::uint8_t b_register(std::int64_t j) { return static_cast<std::uint8_t>(kMaxTiles * (kMaxTiles + 1) + j); }

// The operand of LDTILECFG for palette 1: bytes of a row of each tile, as int16, and its number of rows.
constexpr std::size_t kConfigurationBytes = 64, kPalette = 0, kRowBytes = 16, kRows = 48;
constexpr std::uint8_t kFullRowBytes = 64;
using Configuration = std::array<std::uint8_t, kConfigurationBytes>;

// The configuration with no rows of A and of sums.
Configuration configuration_for(std::int64_t groups) {
  Configuration bytes{};
  bytes[kPalette] = 1;
  const auto set = [&](std::uint8_t tile, std::uint8_t row_bytes, std::uint8_t rows) {
    bytes[kRowBytes + 2 * std::size_t{tile}] = row_bytes;
    bytes[kRows + std::size_t{tile}] = rows;
  };
  for (std::int64_t i = 0; i < kMaxTiles; ++i) {
    for (std::int64_t j = 0; j < kMaxTiles; ++j) set(sum_register(i, j), kFullRowBytes, 0);
    set(a_register(i), static_cast<std::uint8_t>(groups * passes::kGroupBytes), 0);
    set(b_register(i), kFullRowBytes, static_cast<std::uint8_t>(groups));
  }
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
void configure(FunctionState& state, std::int64_t groups, llvm::ArrayRef<Value*> rows) {
  llvm::IRBuilder<>& b = state.builder;
  llvm::AllocaInst* shape = shape_of_tiles(state);
  Value* first = b.CreateTrunc(rows.front(), b.getInt32Ty());
  Value* last = b.CreateTrunc(rows.back(), b.getInt32Ty());
  Value* wanted = b.CreateOr(b.CreateOr(b.getInt32(static_cast<std::uint32_t>(groups) << 16), first),
                             b.CreateShl(last, std::uint64_t{8}));
  Value* difference = b.CreateXor(b.CreateLoad(b.getInt32Ty(), shape), wanted);
  if (rows.size() == 1) difference = b.CreateAnd(difference, b.getInt32(0xff00ff));
  llvm::BasicBlock* load = state.new_block("tiles.configure");
  llvm::BasicBlock* loaded = state.new_block("tiles.configured");
  b.CreateCondBr(b.CreateIsNotNull(difference), load, loaded);
  b.SetInsertPoint(load);
  Value* bytes = numbers(state, configuration_for(groups));
  for (std::int64_t i = 0; i < kMaxTiles; ++i) {
    Value* count = b.CreateTrunc(i == 0 ? first : last, b.getInt8Ty());
    for (std::int64_t j = 0; j < kMaxTiles; ++j)
      bytes = b.CreateInsertElement(bytes, count, kRows + std::uint64_t{sum_register(i, j)});
    bytes = b.CreateInsertElement(bytes, count, kRows + std::uint64_t{a_register(i)});
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

// Calls `each` for the sums of the first tiles of rows, with their registers and addresses.
void for_each_sum(const SumTiles& tiles, std::int64_t row_tiles,
                  const std::function<void(std::uint8_t, const ir::Expr&)>& each) {
  for (std::int64_t i = 0; i < row_tiles; ++i)
    for (std::int64_t j = 0; j < tiles.column_tiles; ++j)
      each(sum_register(i, j), tiles.sums[static_cast<std::size_t>(i * tiles.column_tiles + j)]);
}

// Emits the definition with so many tiles of rows, the others of which have no real rows.
void emit_with(FunctionState& state, const ir::InstructionStmt& node, std::int64_t row_tiles,
               llvm::ArrayRef<Value*> rows) {
  llvm::IRBuilder<>& b = state.builder;
  const SumTiles tiles = passes::sum_tiles(node);
  configure(state, tiles.groups, rows.take_front(static_cast<std::size_t>(row_tiles)));
  Value* stride = stride_bytes(state, tiles.row_stride, tiles.sums[0]);
  const bool from_zero = passes::starts_at_zero(node);
  for_each_sum(tiles, row_tiles, [&](std::uint8_t tile, const ir::Expr& address) {
    if (from_zero)
      b.CreateIntrinsic(Intrinsic::x86_tilezero, {}, {b.getInt8(tile)});
    else
      load_tile(state, tile, address, stride);
  });
  const std::int64_t outer = std::exchange(state.row_tiles, row_tiles);
  if (from_zero) {
    // A sum over nothing consists of the zeros alone.
    if (const auto* steps = node.definition.as<ir::Block>())
      for (std::size_t i = 1; i < steps->body.size(); ++i) emit_stmt(state, steps->body[i]);
  } else {
    emit_stmt(state, node.definition);
  }
  state.row_tiles = outer;
  for_each_sum(tiles, row_tiles, [&](std::uint8_t tile, const ir::Expr& address) {
    b.CreateIntrinsic(Intrinsic::x86_tilestored64, {}, {b.getInt8(tile), address_of(state, address), stride});
  });
}

// Emits `then` where the number of rows is not 0, which may be known, and `otherwise` elsewhere.
void if_any(FunctionState& state, Value* rows, const std::function<void()>& then,
            const std::function<void()>& otherwise) {
  llvm::IRBuilder<>& b = state.builder;
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(rows)) return known->isZero() ? otherwise() : then();
  llvm::BasicBlock* some = state.new_block("tiles.rows");
  llvm::BasicBlock* none = state.new_block("tiles.no_rows");
  llvm::BasicBlock* end = state.new_block("tiles.end");
  b.CreateCondBr(b.CreateIsNotNull(rows), some, none);
  b.SetInsertPoint(some);
  then();
  b.CreateBr(end);
  b.SetInsertPoint(none);
  otherwise();
  b.CreateBr(end);
  b.SetInsertPoint(end);
}

Intrinsic::ID product_of(DType a, DType b) {
  if (a == DType::bf16) return Intrinsic::x86_tdpbf16ps;
  if (a == DType::i8) return b == DType::i8 ? Intrinsic::x86_tdpbssd : Intrinsic::x86_tdpbsud;
  return b == DType::i8 ? Intrinsic::x86_tdpbusd : Intrinsic::x86_tdpbuud;
}

}  // namespace

void emit_tile_sums(FunctionState& state, const ir::InstructionStmt& node) {
  state.uses_tiles = true;
  const SumTiles tiles = passes::sum_tiles(node);
  llvm::SmallVector<Value*, kMaxTiles> rows;
  for (const ir::Expr& count : tiles.rows) rows.push_back(emit_expr(state, count));
  const auto nothing = [] {};
  if_any(
      state, rows[0],
      [&] {
        if (rows.size() == 1) return emit_with(state, node, 1, rows);
        if_any(state, rows[1], [&] { emit_with(state, node, 2, rows); }, [&] { emit_with(state, node, 1, rows); });
      },
      nothing);
}

void emit_tile_dot(FunctionState& state, const ir::InstructionStmt& node) {
  if (state.row_tiles == 0) throw InternalError("a tile_dot outside of tile_sums reached code generation");
  llvm::IRBuilder<>& b = state.builder;
  const TileDot dot = passes::tile_dot(node);
  const Intrinsic::ID product = product_of(type_of(dot.a[0]), type_of(dot.b[0]));
  Value* a_stride = stride_bytes(state, dot.a_stride, dot.a[0]);
  Value* b_stride = stride_bytes(state, dot.b_stride, dot.b[0]);
  for (std::int64_t i = 0; i < state.row_tiles; ++i) {
    load_tile(state, a_register(i), dot.a[static_cast<std::size_t>(i)], a_stride);
    for (std::int64_t j = 0; j < dot.tiles.column_tiles; ++j) {
      if (i == 0) load_tile(state, b_register(j), dot.b[static_cast<std::size_t>(j)], b_stride);
      b.CreateIntrinsic(product, {},
                        {b.getInt8(sum_register(i, j)), b.getInt8(a_register(i)), b.getInt8(b_register(j))});
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
