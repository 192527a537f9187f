#include "crosscompile/codegen/llvm/expr/casts.h"

#include "crosscompile/codegen/llvm/expr/pieces.h"
#include "crosscompile/codegen/llvm/expr/small_integers.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/ir/error.h"

#include <llvm/IR/IntrinsicsARM.h>

#include <cmath>
#include <cstdint>

namespace ferry::codegen {
namespace {

using llvm::Value;

// Clamps a vector of floats to the bounds of the integers and converts it; NaN becomes 0. No float32 is the greatest
// int32, which a select chooses afterwards. Returns null for types whose bounds are out of the floats' precision.
Value* clamped_to_int(FunctionState& state, ir::Type to, Value* value) {
  llvm::IRBuilder<>& b = state.builder;
  if (value->getType()->getScalarType()->isHalfTy())
    value = b.CreateFPExt(value, value->getType()->getWithNewType(b.getFloatTy()));
  llvm::Type* type = value->getType();
  if (!type->getScalarType()->isFloatTy() && !type->getScalarType()->isDoubleTy()) return nullptr;
  const int bits = static_cast<int>(dtype_bytes(to.code)) * 8, digits = type->getScalarType()->isFloatTy() ? 24 : 53;
  const bool is_signed = to.is_signed_int(), is_int32 = bits == 32 && is_signed;
  if (bits > 32 || (bits > digits && !is_int32)) return nullptr;
  const auto number = [&](double of) { return llvm::ConstantFP::get(type, of); };
  const double end = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  Value* greatest = number(bits > digits ? end - std::ldexp(1.0, bits - 1 - digits) : end - 1);
  Value *least = number(is_signed ? -end : 0.0), *clamped = value;
  if (is_signed) clamped = b.CreateSelect(b.CreateFCmpORD(clamped, clamped), clamped, number(0));
  clamped = b.CreateSelect(b.CreateFCmpOGT(clamped, least), clamped, least);
  clamped = b.CreateSelect(b.CreateFCmpOLT(clamped, greatest), clamped, greatest);
  llvm::Type* wide = type->getWithNewType(b.getInt32Ty());
  if (bits < 32) return b.CreateTrunc(b.CreateFPToSI(clamped, wide), register_type(state.module, to));
  if (!is_signed) return b.CreateFPToUI(clamped, wide);
  Value* result = b.CreateFPToSI(clamped, wide);
  if (bits < digits) return result;
  return b.CreateSelect(b.CreateFCmpOGE(value, number(end)), llvm::ConstantInt::get(wide, INT32_MAX), result);
}

Value* float_to_int(FunctionState& state, ir::Type to, Value* value) {
  if (to.is_vector() && state.module.target.capabilities.clamped_conversions)
    if (Value* clamped = clamped_to_int(state, to, value)) return clamped;
  const llvm::Intrinsic::ID id = to.is_signed_int() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return state.builder.CreateIntrinsic(id, {register_type(state.module, to), value->getType()}, {value});
}

// Replaces the 11 bits that f64 has no room for by one that tells whether they are 0: f64 then holds the value exactly,
// and rounding it to a type of at most 40 bits of precision gives what rounding the integer gives.
Value* without_lost_bits(FunctionState& state, ir::Type from, Value* value) {
  llvm::IRBuilder<>& b = state.builder;
  const auto number = [&](std::int64_t of) { return int_constant(state.module, from, of); };
  constexpr std::int64_t kLost = 0x7ff;
  Value* any_lost = b.CreateAdd(b.CreateAnd(value, number(kLost)), number(kLost));
  Value* rounded = b.CreateAnd(b.CreateOr(any_lost, value), number(~kLost));
  // Numbers below 2^53 in magnitude keep their bits. The bits beyond are all 0, or all 1 for negative ones.
  const bool is_signed = from.is_signed_int();
  Value* beyond = is_signed ? b.CreateAdd(b.CreateAShr(value, number(53)), number(1)) : b.CreateLShr(value, number(53));
  return b.CreateSelect(b.CreateICmpULT(beyond, number(is_signed ? 2 : 1)), value, rounded);
}

Value* int_to_float(FunctionState& state, ir::Type from, ir::Type to, Value* value) {
  llvm::Type* type = float_type(state.module, to);
  if (to.code == DType::f32)
    if (Value* floats = emit_small_integers(state, value)) return floats;
  if (from.is_vector() && from.bits() == 64 && to.code == DType::f32 &&
      state.module.target.capabilities.rounds_int64_twice)
    value = without_lost_bits(state, from, value);
  return from.is_signed_int() ? state.builder.CreateSIToFP(value, type) : state.builder.CreateUIToFP(value, type);
}

// Returns whether to convert four lanes at a time: LLVM scalarizes vectors of halves on 32-bit ARM, which has
// instructions for four of them.
bool converts_by_four(const FunctionState& state, ir::Type half, ir::Type single) {
  return state.module.target.capabilities.f16_conversion_by_four && half.code == DType::f16 &&
         single.code == DType::f32 && half.is_vector() && is_moved_as_bits(state.module, DType::f16);
}

Value* by_four(FunctionState& state, llvm::Intrinsic::ID id, std::uint32_t lanes, Value* value) {
  llvm::SmallVector<Value*, 8> results;
  for (std::uint32_t at = 0; at < lanes; at += 4) {
    results.push_back(state.builder.CreateIntrinsic(id, {}, {piece_of(state, value, at, 4)}));
  }
  return joined(state, results, lanes);
}

}  // namespace

Value* emit_bitcast(FunctionState& state, ir::Type to, Value* value) {
  return state.builder.CreateBitCast(value, register_type(state.module, to));
}

Value* emit_cast(FunctionState& state, ir::Type from, ir::Type to, Value* value) {
  llvm::IRBuilder<>& b = state.builder;
  if (from == to) return value;
  if (converts_by_four(state, from, to)) return by_four(state, llvm::Intrinsic::arm_neon_vcvthf2fp, to.lanes, value);
  if (converts_by_four(state, to, from)) return by_four(state, llvm::Intrinsic::arm_neon_vcvtfp2hf, to.lanes, value);
  if (from.is_float()) {
    // A narrow float that is represented by its bits becomes a real one for the conversion instruction.
    Value* number = b.CreateBitCast(value, float_type(state.module, from));
    if (to.is_bool()) return b.CreateFCmpUNE(number, llvm::Constant::getNullValue(number->getType()));
    if (to.is_int()) return float_to_int(state, to, number);
    return emit_bitcast(state, to, b.CreateFPCast(number, float_type(state.module, to)));
  }
  if (to.is_bool()) return b.CreateIsNotNull(value);
  if (to.is_float()) return emit_bitcast(state, to, int_to_float(state, from, to, value));
  return b.CreateIntCast(value, register_type(state.module, to), from.is_signed_int());
}

}  // namespace ferry::codegen
