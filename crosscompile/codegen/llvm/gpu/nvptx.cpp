#include "crosscompile/codegen/llvm/gpu/nvptx.h"

#include "crosscompile/ir/error.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

namespace ferry::codegen {
namespace {

using llvm::Value;

Value* emit_register(FunctionState& state, llvm::Intrinsic::ID id) {
  return state.builder.CreateZExt(state.builder.CreateIntrinsic(id, {}, {}), state.builder.getInt64Ty());
}

// Shuffles a 32-bit value.
Value* shuffled(FunctionState& state, Value* value, Value* mask) {
  constexpr std::uint32_t kAll = 0xffffffff, kWholeWarp = 0x1f;
  llvm::IRBuilder<>& b = state.builder;
  return b.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, {},
                           {b.getInt32(kAll), value, mask, b.getInt32(kWholeWarp)});
}

}  // namespace

Value* emit_block_index(FunctionState& state, std::size_t axis) {
  constexpr llvm::Intrinsic::ID kIds[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                          llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                          llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
  return emit_register(state, kIds[axis]);
}

Value* emit_thread_index(FunctionState& state, std::size_t axis) {
  constexpr llvm::Intrinsic::ID kIds[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x,
                                          llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y,
                                          llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z};
  return emit_register(state, kIds[axis]);
}

void emit_barrier(FunctionState& state) {
  if (!state.module.is_nvptx())
    throw CompileError("expected what a CPU can do, got a barrier between the threads of a GPU's block");
  state.builder.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
}

// Emits a shuffle of any width: narrower values are extended to 32 bits, and wider ones split.
Value* emit_shuffle(FunctionState& state, Value* value, Value* mask) {
  llvm::IRBuilder<>& b = state.builder;
  llvm::Type* type = value->getType();
  const unsigned bits = type->getPrimitiveSizeInBits();
  Value* distance = b.CreateTrunc(mask, b.getInt32Ty());
  Value* whole = b.CreateBitCast(value, b.getIntNTy(bits));
  if (bits <= 32) {
    Value* received = shuffled(state, b.CreateZExt(whole, b.getInt32Ty()), distance);
    return b.CreateBitCast(b.CreateTrunc(received, b.getIntNTy(bits)), type);
  }
  Value* low = shuffled(state, b.CreateTrunc(whole, b.getInt32Ty()), distance);
  Value* high = shuffled(state, b.CreateTrunc(b.CreateLShr(whole, 32), b.getInt32Ty()), distance);
  Value* received = b.CreateOr(b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32), b.CreateZExt(low, b.getInt64Ty()));
  return b.CreateBitCast(received, type);
}

}  // namespace ferry::codegen
