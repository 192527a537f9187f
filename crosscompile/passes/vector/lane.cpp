#include "crosscompile/passes/vector/lane.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

namespace ferry::passes {
namespace {

using namespace ir;

std::vector<Expr> lanes_of_all(const std::vector<Expr>& vectors, const Expr& lane) {
  std::vector<Expr> scalars;
  for (const Expr& vector : vectors) scalars.push_back(lane_of(vector, lane));
  return scalars;
}

Expr lane_of_let(const Let& node, const Expr& lane) {
  if (node.value.type().is_vector()) {
    // Each lane of the body may read any lane of the value.
    return lane_of(substitute(node.body, Substitution{{node.var.get(), node.value}}), lane);
  }
  // Defines the variable once for each lane that is written out.
  const Expr var = Var::make(node.var.as<Var>()->name, node.var.type());
  return Let::make(var, node.value, lane_of(substitute(node.body, Substitution{{node.var.get(), var}}), lane));
}

}  // namespace

Expr lane_of(const Expr& vector, const Expr& lane) {
  if (vector.type().is_scalar()) return vector;
  switch (vector.kind()) {
    case ExprKind::Ramp: {
      const auto* node = vector.as<Ramp>();
      return node->base + cast(node->base.type().code, lane) * node->stride;
    }
    case ExprKind::Broadcast: return vector.as<Broadcast>()->value;
    case ExprKind::Cast: return Cast::make(vector.type().code, lane_of(vector.as<Cast>()->value, lane));
    case ExprKind::Unary: return Unary::make(vector.as<Unary>()->op, lane_of(vector.as<Unary>()->value, lane));
    case ExprKind::Binary: {
      const auto* node = vector.as<Binary>();
      return Binary::make(node->op, lane_of(node->left, lane), lane_of(node->right, lane));
    }
    case ExprKind::Select: {
      const auto* node = vector.as<Select>();
      return Select::make(lane_of(node->condition, lane), lane_of(node->on_true, lane), lane_of(node->on_false, lane));
    }
    case ExprKind::IfThenElse: {
      const auto* node = vector.as<IfThenElse>();
      return IfThenElse::make(lane_of(node->condition, lane), lane_of(node->on_true, lane),
                              lane_of(node->on_false, lane));
    }
    case ExprKind::Load: {
      const auto* node = vector.as<Load>();
      return Load::make(node->buffer, lanes_of_all(node->indices, lane),
                        node->mask.defined() ? lane_of(node->mask, lane) : Expr());
    }
    case ExprKind::Call: {
      const auto* node = vector.as<Call>();
      if (node->callee.op == CallOp::dot) return dot_lane(*node, lane);
      return Call::make(node->type.element(), node->callee, lanes_of_all(node->arguments, lane));
    }
    case ExprKind::Let: return lane_of_let(*vector.as<Let>(), lane);
    case ExprKind::Var: throw InternalError("lane_of: the vector '" + vector.as<Var>()->name + "' has no value");
    case ExprKind::IntImm:
    case ExprKind::FloatImm:
    case ExprKind::Reduce:
    case ExprKind::VectorReduce: break;
  }
  throw InternalError("lane_of: no vector");
}

Expr dot_lane(const Call& dot, const Expr& lane) {
  const auto group = static_cast<std::int64_t>(dot.arguments[1].type().lanes / dot.type.lanes);
  Expr sum = lane_of(dot.arguments[0], lane);
  for (std::int64_t j = 0; j < group; ++j) {
    const Expr at = lane * Expr(group) + Expr(j);
    sum = sum + cast(dot.type.code, lane_of(dot.arguments[1], at)) * cast(dot.type.code, lane_of(dot.arguments[2], at));
  }
  return sum;
}

Expr reduced(const VectorReduce& node) {
  const ReducerRef reducer = make_reducer(node.op, node.type);
  Expr result = lane_of(node.value, Expr(0));
  for (std::uint32_t i = 1; i < node.value.type().lanes; ++i) {
    const Expr next = lane_of(node.value, Expr(std::int64_t{i}));
    result = substitute(reducer->combine[0],
                        Substitution{{reducer->left[0].get(), result}, {reducer->right[0].get(), next}});
  }
  return result;
}

}  // namespace ferry::passes
