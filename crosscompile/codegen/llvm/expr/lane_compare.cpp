#include "crosscompile/codegen/llvm/expr/lane_compare.h"

#include "crosscompile/codegen/llvm/expr/expressions.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

namespace ferry::codegen {
namespace {

using ir::BinaryOp;
using llvm::CmpInst;
using llvm::Value;

std::optional<CmpInst::Predicate> predicate_of(BinaryOp op) {
  if (op == BinaryOp::lt) return CmpInst::ICMP_SLT;
  if (op == BinaryOp::le) return CmpInst::ICMP_SLE;
  if (op == BinaryOp::gt) return CmpInst::ICMP_SGT;
  if (op == BinaryOp::ge) return CmpInst::ICMP_SGE;
  return std::nullopt;
}

constexpr bool is_everything(const ValueRange& range) {
  return range.min == std::numeric_limits<std::int64_t>::min() && range.max == std::numeric_limits<std::int64_t>::max();
}

}  // namespace

Value* emit_lane_compare(FunctionState& state, const ir::Binary& node) {
  const auto written = predicate_of(node.op);
  const bool swapped = node.right.as<ir::Ramp>() != nullptr;
  const ir::Expr& ramp_side = swapped ? node.right : node.left;
  const auto* ramp = ramp_side.as<ir::Ramp>();
  const auto* limit = (swapped ? node.left : node.right).as<ir::Broadcast>();
  if (!written || ramp == nullptr || limit == nullptr || ramp->type.element() != ir::kIndex) return nullptr;
  // Only the lanes of a ramp that does not wrap are in ascending order.
  if (!ir::is_constant(ramp->stride, 1) || is_everything(range_of(state.ranges, ramp_side))) return nullptr;

  llvm::IRBuilder<>& b = state.builder;
  const ir::Expr difference = ir::Binary::make(BinaryOp::sub, limit->value, ramp->base);
  Value* end = emit_expr(state, limit->value);
  Value* start = emit_expr(state, ramp->base);
  Value* distance = is_everything(range_of(state.ranges, difference))
                        ? b.CreateBinaryIntrinsic(llvm::Intrinsic::ssub_sat, end, start)
                        : b.CreateSub(end, start);
  // Beyond either end of the lanes the exact distance does not matter.
  const auto lanes = static_cast<std::int64_t>(ramp->type.lanes);
  distance = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, distance, b.getInt64(static_cast<std::uint64_t>(-1)));
  distance = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, distance, b.getInt64(static_cast<std::uint64_t>(lanes)));
  Value* limits = b.CreateVectorSplat(ramp->type.lanes, b.CreateTrunc(distance, b.getInt32Ty()));
  Value* numbers = lane_numbers(state.module, ir::Type(DType::i32, ramp->type.lanes));
  const CmpInst::Predicate predicate = swapped ? CmpInst::getSwappedPredicate(*written) : *written;
  return b.CreateICmp(predicate, numbers, limits);
}

}  // namespace ferry::codegen
