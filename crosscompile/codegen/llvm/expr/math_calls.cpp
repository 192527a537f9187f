#include "crosscompile/codegen/llvm/expr/math_calls.h"

#include "crosscompile/codegen/llvm/expr/casts.h"
#include "crosscompile/codegen/llvm/expr/pieces.h"
#include "crosscompile/codegen/llvm/expr/scale.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/codegen/llvm/gpu/libdevice.h"
#include "crosscompile/codegen/llvm/gpu/nvptx.h"
#include "crosscompile/codegen/llvm/tiles.h"
#include "crosscompile/ir/error.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsARM.h>

namespace ferry::codegen {
namespace {

using llvm::ArrayRef;
using llvm::Value;

llvm::FunctionCallee library_function(FunctionState& state, const std::string& symbol, llvm::Type* result,
                                      ArrayRef<llvm::Type*> parameters, bool pure) {
  llvm::Module& module = state.module.module;
  auto* type = llvm::FunctionType::get(result, parameters, false);
  const bool is_new = module.getFunction(symbol) == nullptr;
  llvm::FunctionCallee callee = module.getOrInsertFunction(symbol, type);
  auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee());
  if (function == nullptr || function->getFunctionType() != type) {
    throw CompileError("'" + symbol + "' is called with two different sets of argument types");
  }
  if (is_new) {
    function->setDoesNotThrow();
    function->setWillReturn();
    if (pure) function->setDoesNotAccessMemory();
  }
  return callee;
}

// Emits one call per lane.
Value* call_lanes(FunctionState& state, llvm::FunctionCallee callee, ir::Type type, ArrayRef<Value*> arguments) {
  llvm::IRBuilder<>& b = state.builder;
  const auto call = [&](ArrayRef<Value*> scalars) {
    llvm::CallInst* made = b.CreateCall(callee, scalars);
    // LLVM would otherwise turn one library function into another, which the device may not have.
    made->addFnAttr(llvm::Attribute::NoBuiltin);
    return made;
  };
  if (type.is_scalar()) return call(arguments);
  Value* result = llvm::PoisonValue::get(register_type(state.module, type));
  for (std::uint32_t lane = 0; lane < type.lanes; ++lane) {
    llvm::SmallVector<Value*, 4> scalars;
    for (Value* argument : arguments) scalars.push_back(b.CreateExtractElement(argument, std::uint64_t{lane}));
    result = b.CreateInsertElement(result, call(scalars), std::uint64_t{lane});
  }
  return result;
}

Value* libm(FunctionState& state, const std::string& name, ir::Type type, ArrayRef<Value*> arguments) {
  if (type.code != DType::f32 && type.code != DType::f64) {
    throw InternalError("'" + name + "' of a float that no library function takes; legalize_floats must stand before");
  }
  llvm::Type* scalar = register_type(state.module, type.element());
  const llvm::SmallVector<llvm::Type*, 4> parameters(arguments.size(), scalar);
  const std::string of_type = type.code == DType::f32 ? name + "f" : name;
  const std::string symbol = state.module.is_nvptx() ? libdevice_symbol(state.module.target, of_type) : of_type;
  return call_lanes(state, library_function(state, symbol, scalar, parameters, true), type, arguments);
}

Value* external(FunctionState& state, const ir::Call& node, ArrayRef<Value*> arguments) {
  if (state.module.is_nvptx())
    throw CompileError("expected what a GPU can compute, got the C function '" + node.callee.name + "'");
  llvm::SmallVector<llvm::Type*, 4> parameters;
  for (Value* argument : arguments) parameters.push_back(argument->getType()->getScalarType());
  llvm::Type* result = register_type(state.module, node.type.element());
  Value* value =
      call_lanes(state, library_function(state, node.callee.name, result, parameters, false), node.type, arguments);
  forget_tiles(state);
  return value;
}

Value* emit_integer(FunctionState& state, const ir::Call& node, Value* value) {
  llvm::IRBuilder<>& b = state.builder;
  if (node.callee.math == ir::MathFunction::abs) {
    if (!node.type.is_signed_int()) return value;
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, value, b.getFalse());
  }
  Value* count = node.callee.math == ir::MathFunction::popcount
                     ? b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, value)
                     : b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, value, b.getFalse());
  return b.CreateIntCast(count, register_type(state.module, node.type), false);
}

// exp of a non-positive value does not overflow; far below 0 the result is as small as it should be.
Value* emit_sigmoid(FunctionState& state, ir::Type type, Value* value) {
  llvm::IRBuilder<>& b = state.builder;
  Value* one = llvm::ConstantFP::get(value->getType(), 1.0);
  Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  Value* e = libm(state, "exp", type, {b.CreateFNeg(magnitude)});
  Value* is_negative = b.CreateFCmpOLT(value, llvm::Constant::getNullValue(value->getType()));
  return b.CreateFDiv(b.CreateSelect(is_negative, e, one), b.CreateFAdd(one, e));
}

// The back end of 32-bit ARM selects no instruction for vectors (LLVM 19): those of f32 have one as an intrinsic for
// two or four lanes, and others are rounded lane by lane.
Value* emit_round_even(FunctionState& state, ir::Type type, Value* value) {
  llvm::IRBuilder<>& b = state.builder;
  const Target& target = state.module.target;
  llvm::Intrinsic::ID id = llvm::Intrinsic::roundeven;
  if (type.is_scalar() || !target.capabilities.round_even_by_lane) return b.CreateUnaryIntrinsic(id, value);
  const bool has_intrinsic = type.code == DType::f32 && target.capabilities.neon_round_even_32bit;
  const std::uint32_t step = !has_intrinsic ? 1 : type.lanes <= 2 ? 2 : 4;
  if (has_intrinsic) id = llvm::Intrinsic::arm_neon_vrintn;
  llvm::SmallVector<Value*, 8> pieces;
  for (std::uint32_t at = 0; at < type.lanes; at += step)
    pieces.push_back(b.CreateUnaryIntrinsic(id, piece_of(state, value, at, step)));
  return joined(state, pieces, type.lanes);
}

// Some functions mean exactly the same as an LLVM intrinsic. Without an instruction LLVM calls the function of the same
// name, which module/symbols.def lists.
Value* emit_float(FunctionState& state, const ir::Call& node, ArrayRef<Value*> arguments) {
  llvm::IRBuilder<>& b = state.builder;
  const auto intrinsic = [&](llvm::Intrinsic::ID id) {
    return b.CreateIntrinsic(id, {arguments[0]->getType()}, arguments);
  };
  switch (node.callee.math) {
    case ir::MathFunction::abs: return intrinsic(llvm::Intrinsic::fabs);
    case ir::MathFunction::sqrt: return intrinsic(llvm::Intrinsic::sqrt);
    case ir::MathFunction::floor: return intrinsic(llvm::Intrinsic::floor);
    case ir::MathFunction::ceil: return intrinsic(llvm::Intrinsic::ceil);
    case ir::MathFunction::trunc: return intrinsic(llvm::Intrinsic::trunc);
    case ir::MathFunction::round: return intrinsic(llvm::Intrinsic::round);
    case ir::MathFunction::round_even: return emit_round_even(state, node.type, arguments[0]);
    case ir::MathFunction::fma: return intrinsic(llvm::Intrinsic::fma);
    case ir::MathFunction::rsqrt: {
      Value* one = llvm::ConstantFP::get(arguments[0]->getType(), 1.0);
      return b.CreateFDiv(one, intrinsic(llvm::Intrinsic::sqrt));
    }
    case ir::MathFunction::sigmoid: return emit_sigmoid(state, node.type, arguments[0]);
    case ir::MathFunction::exp:
    case ir::MathFunction::exp2:
    case ir::MathFunction::log:
    case ir::MathFunction::log2:
    case ir::MathFunction::log1p:
    case ir::MathFunction::expm1:
    case ir::MathFunction::sin:
    case ir::MathFunction::cos:
    case ir::MathFunction::tan:
    case ir::MathFunction::tanh:
    case ir::MathFunction::sinh:
    case ir::MathFunction::cosh:
    case ir::MathFunction::asin:
    case ir::MathFunction::acos:
    case ir::MathFunction::atan:
    case ir::MathFunction::atan2:
    case ir::MathFunction::erf:
    case ir::MathFunction::pow:
    case ir::MathFunction::fmod: return libm(state, to_text(node.callee), node.type, arguments);
    case ir::MathFunction::popcount:
    case ir::MathFunction::clz: break;
  }
  throw InternalError("emit_float: '" + to_text(node.callee) + "' is a function of integers");
}

}  // namespace

Value* emit_call(FunctionState& state, const ir::Call& node, ArrayRef<Value*> arguments) {
  switch (node.callee.op) {
    case ir::CallOp::math:
      return node.type.is_float() ? emit_float(state, node, arguments) : emit_integer(state, node, arguments[0]);
    case ir::CallOp::external: return external(state, node, arguments);
    case ir::CallOp::bitcast: return emit_bitcast(state, node.type, arguments[0]);
    case ir::CallOp::scale: return emit_scale(state, arguments[0], arguments[1]);
    case ir::CallOp::shuffle_xor: return emit_shuffle(state, arguments[0], arguments[1]);
    case ir::CallOp::dot:
    case ir::CallOp::intrinsic:
    case ir::CallOp::barrier:
    case ir::CallOp::prefetch:
    case ir::CallOp::commit_copies:
    case ir::CallOp::wait_copies:
    case ir::CallOp::address_of: break;
  }
  throw InternalError("emit_call: '" + to_text(node.callee) + "' has no value");
}

}  // namespace ferry::codegen
