#include "crosscompile/codegen/llvm/expr/scale.h"

#include "crosscompile/codegen/llvm/expr/pieces.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace ferry::codegen {
namespace {

using llvm::Value;

// Emits the instruction for exactly 4, 8 or 16 lanes, without a mask.
Value* emit_one(FunctionState& state, Value* value, Value* exponent, std::uint32_t lanes) {
  llvm::IRBuilder<>& b = state.builder;
  Value* unused = llvm::PoisonValue::get(value->getType());
  if (lanes == 16) {
    constexpr std::uint32_t kCurrentRounding = 4;
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                             {value, exponent, unused, b.getInt16(0xffff), b.getInt32(kCurrentRounding)});
  }
  const auto id =
      lanes == 8 ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_256 : llvm::Intrinsic::x86_avx512_mask_scalef_ps_128;
  return b.CreateIntrinsic(id, {}, {value, exponent, unused, b.getInt8(0xff)});
}

}  // namespace

Value* emit_scale(FunctionState& state, Value* value, Value* exponent) {
  llvm::IRBuilder<>& b = state.builder;
  if (!value->getType()->isVectorTy()) {
    Value* nothing = llvm::PoisonValue::get(llvm::FixedVectorType::get(value->getType(), 4));
    Value* one = emit_one(state, b.CreateInsertElement(nothing, value, std::uint64_t{0}),
                          b.CreateInsertElement(nothing, exponent, std::uint64_t{0}), 4);
    return b.CreateExtractElement(one, std::uint64_t{0});
  }
  const std::uint32_t lanes = llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements();
  const std::uint32_t size = lanes > 8 && state.module.target.vector_bits >= 512 ? 16 : lanes > 4 ? 8 : 4;
  llvm::SmallVector<Value*, 4> pieces;
  for (std::uint32_t at = 0; at < lanes; at += size)
    pieces.push_back(emit_one(state, piece_of(state, value, at, size), piece_of(state, exponent, at, size), size));
  return joined(state, pieces, lanes);
}

}  // namespace ferry::codegen
