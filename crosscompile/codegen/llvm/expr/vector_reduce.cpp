#include "crosscompile/codegen/llvm/expr/vector_reduce.h"

#include "crosscompile/codegen/llvm/expr/floats.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/ir/error.h"

namespace ferry::codegen {
namespace {

using ir::ReduceOp;
using llvm::Value;

Value* combine(FunctionState& state, ReduceOp op, ir::Type type, Value* left, Value* right) {
  llvm::IRBuilder<>& b = state.builder;
  const bool is_float = type.is_float();
  const auto minimum = [&](bool smaller) -> Value* {
    if (is_float) return nan_keeping(state, smaller, left, right);
    const bool is_signed = type.is_signed_int();
    const llvm::Intrinsic::ID id = smaller ? (is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin)
                                           : (is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax);
    return b.CreateBinaryIntrinsic(id, left, right);
  };
  switch (op) {
    case ReduceOp::sum: return is_float ? b.CreateFAdd(left, right) : b.CreateAdd(left, right);
    case ReduceOp::prod: return is_float ? b.CreateFMul(left, right) : b.CreateMul(left, right);
    case ReduceOp::min: return minimum(true);
    case ReduceOp::max: return minimum(false);
    case ReduceOp::any: return b.CreateOr(left, right);
    case ReduceOp::all: return b.CreateAnd(left, right);
    case ReduceOp::user: break;
  }
  throw InternalError("emit_vector_reduce: not a built-in reduction");
}

Value* lanes_from(FunctionState& state, Value* value, unsigned first, unsigned count) {
  llvm::SmallVector<int, 64> lanes;
  for (unsigned i = 0; i < count; ++i) lanes.push_back(static_cast<int>(first + i));
  return state.builder.CreateShuffleVector(value, lanes);
}

}  // namespace

// Halves the vector until one lane is left; an odd lane is set aside and combined at the end. All targets turn this
// into a few shuffles.
Value* emit_vector_reduce(FunctionState& state, const ir::VectorReduce& node, Value* value) {
  llvm::IRBuilder<>& b = state.builder;
  const ir::Type type = node.value.type();
  std::vector<Value*> waiting;
  unsigned lanes = type.lanes;
  while (lanes > 1) {
    const unsigned half = lanes / 2;
    if (lanes % 2 != 0) waiting.push_back(b.CreateExtractElement(value, std::uint64_t{lanes - 1}));
    if (half == 1) {
      value = combine(state, node.op, type, b.CreateExtractElement(value, std::uint64_t{0}),
                      b.CreateExtractElement(value, std::uint64_t{1}));
    } else {
      value = combine(state, node.op, type, lanes_from(state, value, 0, half), lanes_from(state, value, half, half));
    }
    lanes = half;
  }
  for (Value* rest : waiting) value = combine(state, node.op, type, value, rest);
  return value;
}

}  // namespace ferry::codegen
