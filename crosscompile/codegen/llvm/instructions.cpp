#include "crosscompile/codegen/llvm/instructions.h"

#include "crosscompile/codegen/llvm/memory/memory.h"
#include "crosscompile/codegen/llvm/statements.h"
#include "crosscompile/codegen/llvm/tiles.h"
#include "crosscompile/ir/async_copy.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/passes/tensorize/tensor_core.h"
#include "ferry/operators.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include <vector>

namespace ferry::codegen {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

Value* address_of(FunctionState& state, const ir::Expr& address) {
  return emit_address(state, *ir::addressed(address));
}

void emit_copy(FunctionState& state, const ir::InstructionStmt& node) {
  const std::int64_t bytes = *ir::as_int(node.arguments[2]);
  const Intrinsic::ID id = bytes == 16  ? Intrinsic::nvvm_cp_async_cg_shared_global_16
                           : bytes == 8 ? Intrinsic::nvvm_cp_async_ca_shared_global_8
                                        : Intrinsic::nvvm_cp_async_ca_shared_global_4;
  Value* to = address_of(state, node.arguments[0]);
  state.builder.CreateIntrinsic(id, {}, {to, address_of(state, node.arguments[1])});
}

// Loads two or four 8 x 8 matrices, one register each.
std::vector<Value*> emit_ldmatrix(FunctionState& state, const ir::Expr& row, unsigned matrices, bool transposed) {
  llvm::IRBuilder<>& b = state.builder;
  const Intrinsic::ID two = transposed ? Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16
                                       : Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16;
  const Intrinsic::ID four = transposed ? Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                                        : Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16;
  Value* address = address_of(state, row);
  Value* all = b.CreateIntrinsic(matrices == 2 ? two : four, {address->getType()}, {address});
  std::vector<Value*> registers;
  for (unsigned i = 0; i < matrices; ++i) registers.push_back(b.CreateExtractValue(all, i));
  return registers;
}

// Adds to the four sums of two pieces.
void emit_mma(FunctionState& state, DType type, std::span<const ir::Expr> sums, std::span<Value* const> a,
              std::span<Value* const> b_registers) {
  llvm::IRBuilder<>& b = state.builder;
  const bool is_half = type == DType::f16;
  llvm::Type* pair = llvm::FixedVectorType::get(b.getHalfTy(), 2);
  llvm::SmallVector<Value*, 10> arguments;
  for (const auto registers : {a, b_registers})
    for (Value* one : registers) arguments.push_back(is_half ? b.CreateBitCast(one, pair) : one);
  std::vector<Value*> addresses;
  for (const ir::Expr& sum : sums) {
    addresses.push_back(address_of(state, sum));
    arguments.push_back(b.CreateLoad(b.getFloatTy(), addresses.back()));
  }
  const Intrinsic::ID id =
      is_half ? Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32 : Intrinsic::nvvm_mma_m16n8k16_row_col_bf16;
  Value* result = b.CreateIntrinsic(id, {}, arguments);
  for (unsigned i = 0; i < addresses.size(); ++i) b.CreateStore(b.CreateExtractValue(result, i), addresses[i]);
}

void emit_mmas(FunctionState& state, const ir::InstructionStmt& node) {
  constexpr std::size_t kSums = 4;
  const passes::TensorCoreTile tile = passes::tile_of(node.arguments);
  const DType type = ir::addressed(tile.a[0])->buffer->dtype;
  std::vector<std::vector<Value*>> a;
  for (const ir::Expr& row : tile.a) a.push_back(emit_ldmatrix(state, row, 4, tile.transpose_a));
  std::vector<Value*> b;
  for (std::size_t j = 0; j < tile.b.size(); ++j) {
    const bool is_single = 2 * static_cast<std::int64_t>(j) + 1 == tile.columns;
    for (Value* one : emit_ldmatrix(state, tile.b[j], is_single ? 2 : 4, tile.transpose_b)) b.push_back(one);
  }
  std::size_t at = 0;
  for (const std::vector<Value*>& rows : a)
    for (std::size_t j = 0; j < static_cast<std::size_t>(tile.columns); ++j, at += kSums)
      emit_mma(state, type, tile.sums.subspan(at, kSums), rows, std::span(b).subspan(2 * j, 2));
}

}  // namespace

void emit_instruction(FunctionState& state, const ir::InstructionStmt& node) {
  const bool is_tile = node.instruction == ir::Instruction::tile_dot || node.instruction == ir::Instruction::tile_sums;
  if (node.arguments.empty() || state.module.is_nvptx() == is_tile) return emit_stmt(state, node.definition);
  switch (node.instruction) {
    case ir::Instruction::tile_dot: return emit_tile_dot(state, node);
    case ir::Instruction::tile_sums: return emit_tile_sums(state, node);
    case ir::Instruction::copy_async: return emit_copy(state, node);
    case ir::Instruction::mma_m16n8k16: return emit_mmas(state, node);
  }
}

void emit_copy_order(FunctionState& state, const ir::Evaluate& node) {
  if (!state.module.is_nvptx()) return;  // each copy has completed already
  llvm::IRBuilder<>& b = state.builder;
  if (const auto left = ir::groups_left(node))
    b.CreateIntrinsic(Intrinsic::nvvm_cp_async_wait_group, {}, {b.getInt32(static_cast<std::uint32_t>(*left))});
  else
    b.CreateIntrinsic(Intrinsic::nvvm_cp_async_commit_group, {}, {});
}

}  // namespace ferry::codegen
