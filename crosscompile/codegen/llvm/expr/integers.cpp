#include "crosscompile/codegen/llvm/expr/integers.h"

#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

#include <bit>

namespace ferry::codegen {
namespace {

using ir::BinaryOp;
using llvm::Value;

struct Operands {
  ir::Type type;
  Value* left;
  Value* right;
  ValueRange left_range, right_range;
};

struct Division {
  Value* quotient;
  Value* rest;
};

bool may_be_zero(const ValueRange& range) { return range.min <= 0 && range.max >= 0; }

// Freezes the divisors of a vector. A shift by the width or more is poison, which the select around every shift hides.
// LLVM concludes from the poison that a shifted constant is never 0, and on AVX-512 moves the select behind the
// division, which then divides by the 0 that the instruction gives.
Value* frozen_divisor(FunctionState& state, const Operands& in) {
  const bool is_known = llvm::isa<llvm::Constant>(in.right);
  return in.type.is_vector() && !is_known ? state.builder.CreateFreeze(in.right) : in.right;
}

// Returns a divisor that is 1 where the original is zero, as the maximum with 1 of unsigned numbers is; the caller then
// sets both results to 0. A select would say the same, but LLVM 19 moves divisions into the selects of divisors, and
// where these become constants of which one lane is 0 it takes the other side for all lanes.
Value* without_zero(FunctionState& state, const Operands& in, Value** is_zero) {
  llvm::IRBuilder<>& b = state.builder;
  Value* divisor = frozen_divisor(state, in);
  if (!may_be_zero(in.right_range)) return divisor;
  *is_zero = b.CreateIsNull(divisor);
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, divisor, int_constant(state.module, in.type, 1));
}

Division zero_if(FunctionState& state, const Operands& in, Value* condition, Division division) {
  if (condition == nullptr) return division;
  Value* zero = int_constant(state.module, in.type, 0);
  return {state.builder.CreateSelect(condition, zero, division.quotient),
          state.builder.CreateSelect(condition, zero, division.rest)};
}

Division unsigned_division(FunctionState& state, const Operands& in) {
  llvm::IRBuilder<>& b = state.builder;
  Value* is_zero = nullptr;
  Value* divisor = without_zero(state, in, &is_zero);
  return zero_if(state, in, is_zero, {b.CreateUDiv(in.left, divisor), b.CreateURem(in.left, divisor)});
}

// Divides operands that fit in 32 bits unsigned: a 64-bit division is slow, and a library call on 32-bit machines.
Division narrow_division(FunctionState& state, const Operands& in) {
  llvm::IRBuilder<>& b = state.builder;
  const ir::Type narrow(DType::u32, in.type.lanes);
  llvm::Type* small = register_type(state.module, narrow);
  llvm::Type* wide = register_type(state.module, in.type);
  const Operands shortened{narrow, b.CreateTrunc(in.left, small), b.CreateTrunc(in.right, small), in.left_range,
                           in.right_range};
  const Division division = unsigned_division(state, shortened);
  return {b.CreateZExt(division.quotient, wide), b.CreateZExt(division.rest, wide)};
}

Division floor_division(FunctionState& state, const Operands& in) {
  llvm::IRBuilder<>& b = state.builder;
  Value* is_zero = nullptr;
  Value* divisor = without_zero(state, in, &is_zero);
  Value* zero = int_constant(state.module, in.type, 0);
  // The smallest value divided by -1 overflows; dividing by -1 is negation.
  Value* is_minus_one = nullptr;
  if (in.right_range.min <= -1 && in.right_range.max >= -1) {
    is_minus_one = b.CreateICmpEQ(divisor, int_constant(state.module, in.type, -1));
    divisor = b.CreateSelect(is_minus_one, int_constant(state.module, in.type, 1), divisor);
  }
  Value* quotient = b.CreateSDiv(in.left, divisor);
  Value* rest = b.CreateSub(in.left, b.CreateMul(quotient, divisor));
  Value* differ = b.CreateICmpSLT(b.CreateXor(rest, divisor), zero);
  Value* fix = b.CreateAnd(b.CreateIsNotNull(rest), differ);
  Value* floored = b.CreateSub(quotient, b.CreateZExt(fix, quotient->getType()));
  if (is_minus_one != nullptr) floored = b.CreateSelect(is_minus_one, b.CreateNeg(in.left), floored);
  return zero_if(state, in, is_zero, {floored, b.CreateAdd(rest, b.CreateSelect(fix, divisor, zero))});
}

Division divide(FunctionState& state, const Operands& in) {
  constexpr std::int64_t kMaxU32 = 0xffffffff;
  const bool unsigned_type = in.type.is_unsigned_int();
  if (in.type.bits() == 64 && in.left_range.within(0, kMaxU32) && in.right_range.within(0, kMaxU32)) {
    return narrow_division(state, in);
  }
  if (unsigned_type) return unsigned_division(state, in);
  if (in.left_range.is_non_negative() && in.right_range.is_non_negative()) return unsigned_division(state, in);
  return floor_division(state, in);
}

// Returns the exponent when the divisor is the same positive power of two in all lanes.
std::optional<unsigned> power_of_two(const Operands& in) {
  const std::int64_t value = in.right_range.min;
  if (value != in.right_range.max || value <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(value))) return {};
  return static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(value)));
}

Value* emit_div(FunctionState& state, const Operands& in) {
  const auto exponent = power_of_two(in);
  if (!exponent) return divide(state, in).quotient;
  if (in.type.is_unsigned_int()) return state.builder.CreateLShr(in.left, *exponent);
  return state.builder.CreateAShr(in.left, *exponent);
}

Value* emit_mod(FunctionState& state, const Operands& in) {
  if (!power_of_two(in)) return divide(state, in).rest;
  return state.builder.CreateAnd(in.left, int_constant(state.module, in.type, in.right_range.min - 1));
}

Value* emit_shift(FunctionState& state, const Operands& in, bool to_left) {
  llvm::IRBuilder<>& b = state.builder;
  const int width = in.type.bits();
  const bool in_range = in.right_range.within(0, width - 1);
  if (!to_left && in.type.is_signed_int()) {
    // Every shift by at least the width gives the sign, and so does one by width - 1. A negative amount is huge as an
    // unsigned number.
    Value* last = int_constant(state.module, in.type, width - 1);
    Value* amount = in_range ? in.right : b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, in.right, last);
    return b.CreateAShr(in.left, amount);
  }
  Value* shifted = to_left ? b.CreateShl(in.left, in.right) : b.CreateLShr(in.left, in.right);
  if (in_range) return shifted;
  Value* fits = b.CreateICmpULT(in.right, int_constant(state.module, in.type, width));
  return b.CreateSelect(fits, shifted, int_constant(state.module, in.type, 0));
}

Value* compare(FunctionState& state, const Operands& in, llvm::CmpInst::Predicate signed_one) {
  const bool is_signed = in.type.is_signed_int();
  return state.builder.CreateICmp(is_signed ? signed_one : llvm::ICmpInst::getUnsignedPredicate(signed_one), in.left,
                                  in.right);
}

Value* minimum(FunctionState& state, const Operands& in, bool smaller) {
  using namespace llvm;
  const bool is_signed = in.type.is_signed_int();
  const Intrinsic::ID id =
      smaller ? (is_signed ? Intrinsic::smin : Intrinsic::umin) : (is_signed ? Intrinsic::smax : Intrinsic::umax);
  return state.builder.CreateBinaryIntrinsic(id, in.left, in.right);
}

}  // namespace

Value* emit_int_binary(FunctionState& state, const ir::Binary& node, Value* left, Value* right) {
  llvm::IRBuilder<>& b = state.builder;
  const Operands in{node.left.type(), left, right, range_of(state.ranges, node.left),
                    range_of(state.ranges, node.right)};
  switch (node.op) {
    case BinaryOp::add: return b.CreateAdd(left, right);
    case BinaryOp::sub: return b.CreateSub(left, right);
    case BinaryOp::mul: return b.CreateMul(left, right);
    case BinaryOp::div: return emit_div(state, in);
    case BinaryOp::mod: return emit_mod(state, in);
    case BinaryOp::min: return minimum(state, in, true);
    case BinaryOp::max: return minimum(state, in, false);
    case BinaryOp::bit_and: return b.CreateAnd(left, right);
    case BinaryOp::bit_or: return b.CreateOr(left, right);
    case BinaryOp::bit_xor: return b.CreateXor(left, right);
    case BinaryOp::shl: return emit_shift(state, in, true);
    case BinaryOp::shr: return emit_shift(state, in, false);
    case BinaryOp::eq: return b.CreateICmpEQ(left, right);
    case BinaryOp::ne: return b.CreateICmpNE(left, right);
    case BinaryOp::lt: return compare(state, in, llvm::ICmpInst::ICMP_SLT);
    case BinaryOp::le: return compare(state, in, llvm::ICmpInst::ICMP_SLE);
    case BinaryOp::gt: return compare(state, in, llvm::ICmpInst::ICMP_SGT);
    case BinaryOp::ge: return compare(state, in, llvm::ICmpInst::ICMP_SGE);
    case BinaryOp::logical_and: return b.CreateAnd(left, right);
    case BinaryOp::logical_or: return b.CreateOr(left, right);
  }
  throw InternalError("emit_int_binary: unknown operation");
}

}  // namespace ferry::codegen
