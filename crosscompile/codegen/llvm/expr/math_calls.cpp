#include "crosscompile/codegen/llvm/expr/math_calls.h"

#include "crosscompile/codegen/llvm/expr/casts.h"
#include "crosscompile/codegen/llvm/expr/dot.h"
#include "crosscompile/codegen/llvm/expr/scale.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/codegen/llvm/gpu/libdevice.h"
#include "crosscompile/codegen/llvm/gpu/nvptx.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/shuffle.h"

#include <llvm/IR/Intrinsics.h>

namespace ferry::codegen {
namespace {

using llvm::ArrayRef;
using llvm::Value;

struct IntrinsicName {
  std::string_view name;
  llvm::Intrinsic::ID id;
};

// Float functions that mean exactly the same as an intrinsic. Without an instruction LLVM calls the function of the
// same name, which module/symbols.def lists.
constexpr IntrinsicName kIntrinsics[] = {
    {"abs", llvm::Intrinsic::fabs},  {"sqrt", llvm::Intrinsic::sqrt},   {"floor", llvm::Intrinsic::floor},
    {"ceil", llvm::Intrinsic::ceil}, {"trunc", llvm::Intrinsic::trunc}, {"round", llvm::Intrinsic::round},
    {"fma", llvm::Intrinsic::fma},
};

std::optional<llvm::Intrinsic::ID> float_intrinsic(std::string_view name) {
  for (const IntrinsicName& known : kIntrinsics) {
    if (known.name == name) return known.id;
  }
  return std::nullopt;
}

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
  const std::string symbol = state.module.target.is_gpu() ? libdevice_symbol(state.module.target, of_type) : of_type;
  return call_lanes(state, library_function(state, symbol, scalar, parameters, true), type, arguments);
}

Value* external(FunctionState& state, const ir::Call& node, ArrayRef<Value*> arguments) {
  if (state.module.target.is_gpu())
    throw CompileError("expected what a GPU can compute, got the C function '" + node.name + "'");
  llvm::SmallVector<llvm::Type*, 4> parameters;
  for (Value* argument : arguments) parameters.push_back(argument->getType()->getScalarType());
  llvm::Type* result = register_type(state.module, node.type.element());
  return call_lanes(state, library_function(state, node.name, result, parameters, false), node.type, arguments);
}

Value* emit_integer(FunctionState& state, const ir::Call& node, Value* value) {
  llvm::IRBuilder<>& b = state.builder;
  if (node.name == "abs") {
    if (!node.type.is_signed_int()) return value;
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, value, b.getFalse());
  }
  Value* count = node.name == "popcount" ? b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, value)
                                         : b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, value, b.getFalse());
  return b.CreateIntCast(count, register_type(state.module, node.type), false);
}

bool is_math(std::string_view name) {
#define FERRY_MATH(function, arguments, kind) \
  if (name == #function) return true;
#include "crosscompile/ir/math.def"
#undef FERRY_MATH
  return false;
}

Value* emit_float(FunctionState& state, const ir::Call& node, ArrayRef<Value*> arguments) {
  llvm::IRBuilder<>& b = state.builder;
  const ir::Type type = node.type;
  if (const auto id = float_intrinsic(node.name)) return b.CreateIntrinsic(*id, {arguments[0]->getType()}, arguments);
  Value* one = llvm::ConstantFP::get(arguments[0]->getType(), 1.0);
  if (node.name == "rsqrt") {
    return b.CreateFDiv(one, b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, arguments[0]));
  }
  if (node.name == "sigmoid") {
    // exp of a non-positive value does not overflow; far below 0 the result is as small as it should be.
    Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, arguments[0]);
    Value* e = libm(state, "exp", type, {b.CreateFNeg(magnitude)});
    Value* is_negative = b.CreateFCmpOLT(arguments[0], llvm::Constant::getNullValue(arguments[0]->getType()));
    return b.CreateFDiv(b.CreateSelect(is_negative, e, one), b.CreateFAdd(one, e));
  }
  return libm(state, node.name, type, arguments);
}

}  // namespace

Value* emit_call(FunctionState& state, const ir::Call& node, ArrayRef<Value*> arguments) {
  if (node.name == "bitcast") return emit_bitcast(state, node.type, arguments[0]);
  if (node.name == "dot") return emit_dot(state, node, arguments);
  if (ir::is_shuffle(node)) return emit_shuffle(state, arguments[0], arguments[1]);
  if (node.name == "scale") return emit_scale(state, arguments[0], arguments[1]);
  if (!is_math(node.name)) return external(state, node, arguments);
  const ir::Type argument = node.arguments[0].type();
  return argument.is_float() ? emit_float(state, node, arguments) : emit_integer(state, node, arguments[0]);
}

}  // namespace ferry::codegen
