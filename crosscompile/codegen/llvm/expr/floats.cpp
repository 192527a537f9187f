#include "crosscompile/codegen/llvm/expr/floats.h"

#include "crosscompile/ir/error.h"

#include <cmath>

namespace ferry::codegen {
namespace {

using ir::BinaryOp;
using llvm::Value;

bool is_number(const ir::Expr& expr) {
  if (const auto* broadcast = expr.as<ir::Broadcast>()) return is_number(broadcast->value);
  const auto* imm = expr.as<ir::FloatImm>();
  return imm != nullptr && !std::isnan(imm->value);
}

// Emits min or max with a constant that is not NaN, for which one comparison suffices: it fails for a NaN on the other
// side, which is then the result. x86 has exactly this operation as an instruction.
Value* against_constant(FunctionState& state, bool smaller, Value* value, Value* constant) {
  llvm::IRBuilder<>& b = state.builder;
  Value* constant_wins = smaller ? b.CreateFCmpOLT(constant, value) : b.CreateFCmpOGT(constant, value);
  return b.CreateSelect(constant_wins, constant, value);
}

// Returns whether the target has instructions for min and max that propagate NaN, as ARM does.
bool has_nan_keeping(const FunctionState& state, const Value* value) {
  const Capabilities& can = state.module.target.capabilities;
  const llvm::Type* type = value->getType();
  return can.nan_min_max || (can.nan_min_max_f32_vectors && type->isVectorTy() && type->getScalarType()->isFloatTy());
}

Value* minimum(FunctionState& state, const ir::Binary& node, bool smaller, Value* left, Value* right) {
  if (has_nan_keeping(state, left)) return nan_keeping(state, smaller, left, right);
  if (is_number(node.right)) return against_constant(state, smaller, left, right);
  if (is_number(node.left)) return against_constant(state, smaller, right, left);
  return nan_keeping(state, smaller, left, right);
}

}  // namespace

Value* nan_keeping(FunctionState& state, bool smaller, Value* left, Value* right) {
  auto* call =
      state.builder.CreateBinaryIntrinsic(smaller ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum, left, right);
  // The sign of the zero that results from +0 and -0 is unspecified.
  if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(call)) instruction->setHasNoSignedZeros(true);
  return call;
}

Value* emit_float_binary(FunctionState& state, const ir::Binary& node, Value* left, Value* right) {
  llvm::IRBuilder<>& b = state.builder;
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  // Init functions compute the same bytes on every machine.
  llvm::FastMathFlags contract;
  contract.setAllowContract(state.source.init_of.empty());
  b.setFastMathFlags(contract);
  switch (node.op) {
    case BinaryOp::add: return b.CreateFAdd(left, right);
    case BinaryOp::sub: return b.CreateFSub(left, right);
    case BinaryOp::mul: return b.CreateFMul(left, right);
    case BinaryOp::div: return b.CreateFDiv(left, right);
    case BinaryOp::min: return minimum(state, node, true, left, right);
    case BinaryOp::max: return minimum(state, node, false, left, right);
    case BinaryOp::eq: return b.CreateFCmpOEQ(left, right);
    case BinaryOp::ne: return b.CreateFCmpUNE(left, right);
    case BinaryOp::lt: return b.CreateFCmpOLT(left, right);
    case BinaryOp::le: return b.CreateFCmpOLE(left, right);
    case BinaryOp::gt: return b.CreateFCmpOGT(left, right);
    case BinaryOp::ge: return b.CreateFCmpOGE(left, right);
    case BinaryOp::mod:
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
    case BinaryOp::shl:
    case BinaryOp::shr:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or: break;
  }
  throw InternalError("emit_float_binary: not an operation on floats");
}

}  // namespace ferry::codegen
