#include "crosscompile/codegen/llvm/expr/expressions.h"

#include "crosscompile/codegen/llvm/expr/casts.h"
#include "crosscompile/codegen/llvm/expr/dot.h"
#include "crosscompile/codegen/llvm/expr/floats.h"
#include "crosscompile/codegen/llvm/expr/integers.h"
#include "crosscompile/codegen/llvm/expr/lane_compare.h"
#include "crosscompile/codegen/llvm/expr/math_calls.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/codegen/llvm/expr/vector_reduce.h"
#include "crosscompile/codegen/llvm/memory/memory.h"
#include "crosscompile/codegen/llvm/memory/repeated_loads.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/visitor.h"

namespace ferry::codegen {
namespace {

using llvm::Value;

class LoadFinder : public ir::Visitor {
 public:
  bool found = false;

 protected:
  using ir::Visitor::visit_node;
  void visit_node(const ir::Load&) override { found = true; }
  void visit_node(const ir::Call& node) override {
    // Calls are costly, and an external function may have a side effect.
    found = true;
    ir::Visitor::visit_node(node);
  }
};

bool needs_guard(const ir::Expr& expr) {
  LoadFinder finder;
  finder.visit(expr);
  return finder.found;
}

Value* emit_unary(FunctionState& state, const ir::Unary& node) {
  llvm::IRBuilder<>& b = state.builder;
  Value* value = emit_expr(state, node.value);
  switch (node.op) {
    case ir::UnaryOp::neg: return node.type.is_float() ? b.CreateFNeg(value) : b.CreateNeg(value);
    case ir::UnaryOp::bit_not:
    case ir::UnaryOp::logical_not: return b.CreateNot(value);
  }
  throw InternalError("emit_unary: unknown operation");
}

Value* emit_binary(FunctionState& state, const ir::Binary& node) {
  if (Value* mask = emit_lane_compare(state, node)) return mask;
  Value* left = emit_expr(state, node.left);
  Value* right = emit_expr(state, node.right);
  return node.left.type().is_float() ? emit_float_binary(state, node, left, right)
                                     : emit_int_binary(state, node, left, right);
}

Value* emit_side(FunctionState& state, const ir::Expr& expr, Value* mask) {
  Value* outer = state.lane_mask;
  state.lane_mask = mask;
  Value* value = emit_expr(state, expr);
  state.lane_mask = outer;
  return value;
}

// Each lane chooses for itself: both sides are computed, and loads are masked to the lanes that choose them.
Value* emit_lane_choice(FunctionState& state, const ir::IfThenElse& node) {
  llvm::IRBuilder<>& b = state.builder;
  Value* condition = emit_expr(state, node.condition);
  Value* outer = state.lane_mask;
  Value* not_condition = b.CreateNot(condition);
  Value* on_true = emit_side(state, node.on_true, outer ? b.CreateAnd(outer, condition) : condition);
  Value* on_false = emit_side(state, node.on_false, outer ? b.CreateAnd(outer, not_condition) : not_condition);
  return b.CreateSelect(condition, on_true, on_false);
}

// Emits a choice in which all lanes choose the same side.
Value* emit_choice(FunctionState& state, const ir::IfThenElse& node, const ir::Expr& scalar_condition) {
  llvm::IRBuilder<>& b = state.builder;
  Value* condition = emit_expr(state, scalar_condition);
  if (!needs_guard(node.on_true) && !needs_guard(node.on_false)) {
    Value* on_true = emit_expr(state, node.on_true);
    return b.CreateSelect(condition, on_true, emit_expr(state, node.on_false));
  }
  llvm::BasicBlock* then_block = state.new_block("then");
  llvm::BasicBlock* else_block = state.new_block("else");
  llvm::BasicBlock* end_block = state.new_block("chosen");
  b.CreateCondBr(condition, then_block, else_block);
  b.SetInsertPoint(then_block);
  Value* on_true = emit_expr(state, node.on_true);
  llvm::BasicBlock* then_end = b.GetInsertBlock();
  b.CreateBr(end_block);
  b.SetInsertPoint(else_block);
  Value* on_false = emit_expr(state, node.on_false);
  llvm::BasicBlock* else_end = b.GetInsertBlock();
  b.CreateBr(end_block);
  b.SetInsertPoint(end_block);
  llvm::PHINode* result = b.CreatePHI(on_true->getType(), 2);
  result->addIncoming(on_true, then_end);
  result->addIncoming(on_false, else_end);
  return result;
}

Value* emit_ramp(FunctionState& state, const ir::Ramp& node) {
  llvm::IRBuilder<>& b = state.builder;
  const ir::Type type = node.type;
  Value* base = b.CreateVectorSplat(type.lanes, emit_expr(state, node.base));
  Value* stride = b.CreateVectorSplat(type.lanes, emit_expr(state, node.stride));
  return b.CreateAdd(base, b.CreateMul(stride, lane_numbers(state.module, type)));
}

// Emits a scalar part of a vector IfThenElse, the base of a ramp for example: its loads happen if any lane needs them.
Value* emit_scalar_for_lanes(FunctionState& state, const ir::Expr& expr) {
  Value* mask = state.lane_mask;
  state.lane_mask = nullptr;
  Value* value = nullptr;
  if (needs_guard(expr)) {
    Value* zero = llvm::Constant::getNullValue(register_type(state.module, expr.type()));
    value = emit_guarded(state, state.builder.CreateOrReduce(mask), zero, [&] { return emit_expr(state, expr); });
  } else {
    value = emit_expr(state, expr);
  }
  state.lane_mask = mask;
  return value;
}

Value* emit_call_node(FunctionState& state, const ir::Call& node) {
  if (const ir::Load* element = ir::addressed(node)) return emit_address(state, *element);
  if (node.callee.op == ir::CallOp::dot) return emit_dot(state, node);
  llvm::SmallVector<Value*, 4> arguments;
  for (const ir::Expr& argument : node.arguments) arguments.push_back(emit_expr(state, argument));
  return emit_call(state, node, arguments);
}

Value* emit_let(FunctionState& state, const ir::Let& node) {
  const ir::ExprNode* var = node.var.get();
  state.values[var] = emit_expr(state, node.value);
  state.ranges[var] = range_of(state.ranges, node.value);
  return emit_expr(state, node.body);
}

Value* variable(FunctionState& state, const ir::Var& node) {
  const auto found = state.values.find(&node);
  if (found == state.values.end()) throw InternalError("'" + node.name + "' is used where it has no value");
  return found->second;
}

}  // namespace

Value* emit_expr(FunctionState& state, const ir::Expr& expr) {
  if (state.lane_mask != nullptr && expr.type().is_scalar()) return emit_scalar_for_lanes(state, expr);
  switch (expr.kind()) {
    case ir::ExprKind::IntImm: return int_constant(state.module, expr.type(), expr.as<ir::IntImm>()->value);
    case ir::ExprKind::FloatImm: return float_constant(state.module, expr.type(), expr.as<ir::FloatImm>()->value);
    case ir::ExprKind::Var: return variable(state, *expr.as<ir::Var>());
    case ir::ExprKind::Cast: {
      const ir::Expr& value = expr.as<ir::Cast>()->value;
      return emit_cast(state, value.type(), expr.type(), emit_expr(state, value));
    }
    case ir::ExprKind::Unary: return emit_unary(state, *expr.as<ir::Unary>());
    case ir::ExprKind::Binary: return emit_binary(state, *expr.as<ir::Binary>());
    case ir::ExprKind::Select: {
      const auto* node = expr.as<ir::Select>();
      Value* condition = emit_expr(state, node->condition);
      Value* on_true = emit_expr(state, node->on_true);
      return state.builder.CreateSelect(condition, on_true, emit_expr(state, node->on_false));
    }
    case ir::ExprKind::IfThenElse: {
      const auto* node = expr.as<ir::IfThenElse>();
      if (node->condition.type().is_scalar()) return emit_choice(state, *node, node->condition);
      const auto* same = node->condition.as<ir::Broadcast>();
      return same != nullptr ? emit_choice(state, *node, same->value) : emit_lane_choice(state, *node);
    }
    case ir::ExprKind::Load: return emit_load(state, *expr.as<ir::Load>());
    case ir::ExprKind::Call: return emit_call_node(state, *expr.as<ir::Call>());
    case ir::ExprKind::Let: return emit_let(state, *expr.as<ir::Let>());
    case ir::ExprKind::Ramp: return emit_ramp(state, *expr.as<ir::Ramp>());
    case ir::ExprKind::Broadcast: {
      const auto* node = expr.as<ir::Broadcast>();
      if (Value* splat = load_broadcast(state, *node)) return splat;
      return state.builder.CreateVectorSplat(node->type.lanes, emit_expr(state, node->value));
    }
    case ir::ExprKind::VectorReduce: {
      const auto* node = expr.as<ir::VectorReduce>();
      return emit_vector_reduce(state, *node, emit_expr(state, node->value));
    }
    case ir::ExprKind::Reduce: throw InternalError("a reduction reached code generation; lowering must stand before");
  }
  throw InternalError("emit_expr: an unknown kind of expression");
}

}  // namespace ferry::codegen
