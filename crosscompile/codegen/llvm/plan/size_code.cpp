#include "crosscompile/codegen/llvm/plan/size_code.h"

#include "crosscompile/ir/error.h"

#include <limits>

namespace ferry::codegen {
namespace {

using llvm::Value;

const llvm::ConstantInt* constant(const Value* value) { return llvm::dyn_cast<llvm::ConstantInt>(value); }

}  // namespace

SizeCode::SizeCode(llvm::IRBuilder<>& builder, std::vector<Value*> symbols)
    : b_(builder), symbols_(symbols.size()), values_(std::move(symbols)), invalid_(builder.getFalse()) {}

void SizeCode::define(const Plan& plan) {
  values_.resize(symbols_);
  for (const ManifestExpr& expr : plan.values) values_.push_back(evaluate(expr));
}

Value* SizeCode::value(ValueIndex index) const { return index == kNoValue ? b_.getInt64(0) : values_.at(index); }

Value* SizeCode::size(ValueIndex index) { return as_size(value(index)); }

Value* SizeCode::as_size(Value* value) {
  refuse_if(b_.CreateICmpSLT(value, b_.getInt64(0)));
  return value;
}

void SizeCode::refuse_if(Value* condition) { invalid_ = b_.CreateOr(invalid_, condition); }

Value* SizeCode::truth(Value* condition) { return b_.CreateZExt(condition, b_.getInt64Ty()); }

Value* SizeCode::checked(llvm::Intrinsic::ID operation, Value* a, Value* b) {
  Value* both = b_.CreateBinaryIntrinsic(operation, a, b);
  refuse_if(b_.CreateExtractValue(both, 1));
  return b_.CreateExtractValue(both, 0);
}

Value* SizeCode::divide(ManifestOp op, Value* a, Value* b) {
  Value* zero = b_.getInt64(0);
  Value* lowest = b_.getInt64(static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::min()));
  Value* overflows = b_.CreateAnd(b_.CreateICmpEQ(a, lowest), b_.CreateICmpEQ(b, b_.getInt64(UINT64_MAX)));
  Value* impossible = b_.CreateICmpEQ(b, zero);
  // The remainder of the one division that overflows is 0.
  refuse_if(op == ManifestOp::floordiv ? b_.CreateOr(impossible, overflows) : impossible);
  Value* divisor = b_.CreateSelect(b_.CreateOr(impossible, overflows), b_.getInt64(1), b);
  Value* remainder = b_.CreateSRem(a, divisor);
  Value* rounded =
      b_.CreateAnd(b_.CreateICmpNE(remainder, zero), b_.CreateICmpSLT(b_.CreateXor(remainder, divisor), zero));
  if (op == ManifestOp::floordiv) return b_.CreateSub(b_.CreateSDiv(a, divisor), truth(rounded));
  return b_.CreateSelect(rounded, b_.CreateAdd(remainder, divisor), remainder);
}

Value* SizeCode::apply(ManifestOp op, Value* a, Value* b) {
  if (constant(a) != nullptr && constant(b) != nullptr) {
    const Result<std::int64_t> known = ferry::evaluate(
        manifest_apply(
            op, {manifest_constant(constant(a)->getSExtValue()), manifest_constant(constant(b)->getSExtValue())}),
        {});
    if (known.is_ok()) return b_.getInt64(static_cast<std::uint64_t>(known.value()));
    refuse_if(b_.getTrue());
    return b_.getInt64(0);
  }
  Value* zero = b_.getInt64(0);
  switch (op) {
    case ManifestOp::add: return checked(llvm::Intrinsic::sadd_with_overflow, a, b);
    case ManifestOp::sub: return checked(llvm::Intrinsic::ssub_with_overflow, a, b);
    case ManifestOp::mul: return checked(llvm::Intrinsic::smul_with_overflow, a, b);
    case ManifestOp::floordiv:
    case ManifestOp::floormod: return divide(op, a, b);
    case ManifestOp::min: return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case ManifestOp::max: return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    case ManifestOp::eq: return truth(b_.CreateICmpEQ(a, b));
    case ManifestOp::ne: return truth(b_.CreateICmpNE(a, b));
    case ManifestOp::lt: return truth(b_.CreateICmpSLT(a, b));
    case ManifestOp::le: return truth(b_.CreateICmpSLE(a, b));
    case ManifestOp::logical_and: return truth(b_.CreateAnd(b_.CreateICmpNE(a, zero), b_.CreateICmpNE(b, zero)));
    case ManifestOp::logical_or: return truth(b_.CreateOr(b_.CreateICmpNE(a, zero), b_.CreateICmpNE(b, zero)));
    case ManifestOp::constant:
    case ManifestOp::symbol:
    case ManifestOp::logical_not:
    case ManifestOp::select: break;
  }
  throw InternalError("SizeCode: expected an operation of two operands");
}

Value* SizeCode::evaluate(const ManifestExpr& expr) {
  std::vector<Value*> stack;
  const auto pop = [&] {
    Value* top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const ManifestInstruction& instruction : expr.code) {
    if (instruction.op == ManifestOp::constant) {
      stack.push_back(b_.getInt64(static_cast<std::uint64_t>(instruction.value)));
    } else if (instruction.op == ManifestOp::symbol) {
      stack.push_back(values_.at(static_cast<std::size_t>(instruction.value)));
    } else if (instruction.op == ManifestOp::logical_not) {
      stack.push_back(truth(b_.CreateICmpEQ(pop(), b_.getInt64(0))));
    } else if (instruction.op == ManifestOp::select) {
      Value* otherwise = pop();
      Value* then = pop();
      stack.push_back(b_.CreateSelect(b_.CreateICmpNE(pop(), b_.getInt64(0)), then, otherwise));
    } else {
      Value* right = pop();
      Value* left = pop();
      stack.push_back(apply(instruction.op, left, right));
    }
  }
  return stack.empty() ? b_.getInt64(0) : stack.back();
}

Value* SizeCode::round_up(Value* size, std::uint64_t multiple) {
  return b_.CreateAnd(add(size, b_.getInt64(multiple - 1)), b_.getInt64(~(multiple - 1)));
}

Value* SizeCode::tensor_bytes(const ParameterInfo& parameter) {
  std::vector<Value*> shape;
  Value* is_empty = b_.getFalse();
  for (const ManifestExpr& extent : parameter.shape) {
    shape.push_back(as_size(evaluate(extent)));
    is_empty = b_.CreateOr(is_empty, b_.CreateICmpEQ(shape.back(), b_.getInt64(0)));
  }
  // The other sizes of a tensor without elements may be as large as they like.
  Value* before = invalid_;
  invalid_ = b_.getFalse();
  Value* elements = b_.getInt64(1);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (parameter.strides.empty()) {
      elements = mul(elements, shape[d]);
    } else {
      Value* last = apply(ManifestOp::sub, shape[d], b_.getInt64(1));
      elements = add(elements, mul(last, as_size(evaluate(parameter.strides[d]))));
    }
  }
  Value* bytes = mul(elements, b_.getInt64(dtype_bytes(parameter.dtype)));
  invalid_ = b_.CreateOr(before, b_.CreateAnd(invalid_, b_.CreateNot(is_empty)));
  return b_.CreateSelect(is_empty, b_.getInt64(0), bytes);
}

}  // namespace ferry::codegen
