#include "crosscompile/codegen/llvm/expr/types.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/passes/legalize/legalize_floats.h"

#include <llvm/IR/Constants.h>

namespace ferry::codegen {
namespace {

llvm::Type* with_lanes(llvm::Type* element, std::uint32_t lanes) {
  return lanes == 1 ? element : llvm::FixedVectorType::get(element, lanes);
}

llvm::Type* element_type(ModuleState& module, DType type) {
  llvm::LLVMContext& context = module.context;
  switch (type) {
    case DType::f16:
    case DType::bf16:
      if (is_moved_as_bits(module, type)) return llvm::Type::getInt16Ty(context);
      return float_type(module, type);
    case DType::f32:
    case DType::f64: return float_type(module, type);
    case DType::i8:
    case DType::u8: return llvm::Type::getInt8Ty(context);
    case DType::i16:
    case DType::u16: return llvm::Type::getInt16Ty(context);
    case DType::i32:
    case DType::u32: return llvm::Type::getInt32Ty(context);
    case DType::i64:
    case DType::u64: return llvm::Type::getInt64Ty(context);
    case DType::boolean: return llvm::Type::getInt1Ty(context);
  }
  throw InternalError("element_type: unknown dtype");
}

}  // namespace

bool is_moved_as_bits(const ModuleState& module, DType type) {
  return ir::Type(type).is_narrow_float() && !passes::computes_natively(type, module.target);
}

llvm::Type* float_type(ModuleState& module, ir::Type type) {
  llvm::LLVMContext& context = module.context;
  switch (type.code) {
    case DType::f16: return with_lanes(llvm::Type::getHalfTy(context), type.lanes);
    case DType::bf16: return with_lanes(llvm::Type::getBFloatTy(context), type.lanes);
    case DType::f32: return with_lanes(llvm::Type::getFloatTy(context), type.lanes);
    case DType::f64: return with_lanes(llvm::Type::getDoubleTy(context), type.lanes);
    default: throw InternalError("float_type: not a float");
  }
}

llvm::Type* register_type(ModuleState& module, ir::Type type) {
  return with_lanes(element_type(module, type.code), type.lanes);
}

llvm::Type* memory_type(ModuleState& module, ir::Type type) {
  if (type.is_bool()) return with_lanes(llvm::Type::getInt8Ty(module.context), type.lanes);
  return register_type(module, type);
}

llvm::Constant* int_constant(ModuleState& module, ir::Type type, std::int64_t value) {
  return llvm::ConstantInt::get(register_type(module, type), static_cast<std::uint64_t>(value));
}

llvm::Constant* float_constant(ModuleState& module, ir::Type type, double value) {
  if (!is_moved_as_bits(module, type.code)) return llvm::ConstantFP::get(register_type(module, type), value);
  const std::uint16_t bits = type.code == DType::f16 ? f64_to_f16(value) : f64_to_bf16(value);
  return llvm::ConstantInt::get(register_type(module, type), bits);
}

llvm::Constant* lane_numbers(ModuleState& module, ir::Type type) {
  llvm::SmallVector<llvm::Constant*, 16> lanes;
  for (std::uint32_t i = 0; i < type.lanes; ++i) lanes.push_back(int_constant(module, type.element(), i));
  return type.lanes == 1 ? lanes[0] : llvm::ConstantVector::get(lanes);
}

llvm::Value* to_memory(FunctionState& state, ir::Type type, llvm::Value* value) {
  return type.is_bool() ? state.builder.CreateZExt(value, memory_type(state.module, type)) : value;
}

llvm::Value* from_memory(FunctionState& state, ir::Type type, llvm::Value* value) {
  return type.is_bool() ? state.builder.CreateIsNotNull(value) : value;
}

}  // namespace ferry::codegen
