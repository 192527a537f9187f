#include "host/lang/wide_sums.h"

#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

namespace ferry::lang {

using ir::Expr;

namespace {

Expr widened(const Expr& term) {
  if (const auto* product = term.as<ir::Binary>(); product != nullptr && product->op == ir::BinaryOp::mul)
    return ir::cast(DType::f32, product->left) * ir::cast(DType::f32, product->right);
  // The choice stays outermost, where lowering looks for terms that are left out.
  if (const auto* choice = term.as<ir::IfThenElse>())
    return ir::if_then_else(choice->condition, widened(choice->on_true), widened(choice->on_false));
  if (const auto* choice = term.as<ir::Select>())
    return ir::select(choice->condition, widened(choice->on_true), widened(choice->on_false));
  return ir::cast(DType::f32, term);
}

}  // namespace

Expr with_wide_sum(const Expr& value) {
  const auto* reduce = value.as<ir::Reduce>();
  if (reduce == nullptr || reduce->reducer->op != ir::ReduceOp::sum || !value.type().is_narrow_float()) return value;
  std::vector<Expr> init;
  for (const Expr& start : reduce->init) init.push_back(ir::cast(DType::f32, start));
  return ir::Reduce::make(ir::make_reducer(ir::ReduceOp::sum, ir::Type(DType::f32)), {widened(reduce->sources[0])},
                          reduce->axes, reduce->condition, std::move(init));
}

}  // namespace ferry::lang
