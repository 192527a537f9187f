#include "crosscompile/codegen/llvm/casts.h"

#include "crosscompile/codegen/llvm/types.h"
#include "crosscompile/ir/error.h"

namespace ferry::codegen {
namespace {

using llvm::Value;

Value* float_to_int(FunctionState& state, ir::Type to, Value* value) {
  const llvm::Intrinsic::ID id = to.is_signed_int() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return state.builder.CreateIntrinsic(id, {register_type(state.module, to), value->getType()}, {value});
}

Value* int_to_float(FunctionState& state, ir::Type from, ir::Type to, Value* value) {
  llvm::Type* type = float_type(state.module, to);
  return from.is_signed_int() ? state.builder.CreateSIToFP(value, type) : state.builder.CreateUIToFP(value, type);
}

}  // namespace

Value* emit_bitcast(FunctionState& state, ir::Type to, Value* value) {
  return state.builder.CreateBitCast(value, register_type(state.module, to));
}

Value* emit_cast(FunctionState& state, ir::Type from, ir::Type to, Value* value) {
  llvm::IRBuilder<>& b = state.builder;
  if (from == to) return value;
  if (from.is_float()) {
    // A narrow float that is moved as bits becomes a real one for the conversion instruction.
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
