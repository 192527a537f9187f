#include "crosscompile/ir/visitor.h"

namespace ferry::ir {

void Visitor::visit(const Expr& expr) {
  if (!expr) return;
  switch (expr.kind()) {
#define FERRY_CASE(name) \
  case ExprKind::name: return visit_node(static_cast<const name&>(*expr.get()));
    FERRY_IR_EXPRS(FERRY_CASE)
#undef FERRY_CASE
  }
}

void Visitor::visit(const Stmt& stmt) {
  if (!stmt) return;
  switch (stmt.kind()) {
#define FERRY_CASE(name) \
  case StmtKind::name: return visit_node(static_cast<const name&>(*stmt.get()));
    FERRY_IR_STMTS(FERRY_CASE)
#undef FERRY_CASE
  }
}

void Visitor::visit_node(const IntImm&) {}
void Visitor::visit_node(const FloatImm&) {}
void Visitor::visit_node(const Var&) {}
void Visitor::visit_node(const Cast& node) { visit(node.value); }
void Visitor::visit_node(const Unary& node) { visit(node.value); }

void Visitor::visit_node(const Binary& node) {
  visit(node.left);
  visit(node.right);
}

void Visitor::visit_node(const Select& node) {
  visit(node.condition);
  visit(node.on_true);
  visit(node.on_false);
}

void Visitor::visit_node(const IfThenElse& node) {
  visit(node.condition);
  visit(node.on_true);
  visit(node.on_false);
}

void Visitor::visit_node(const Load& node) {
  for (const Expr& index : node.indices) visit(index);
  visit(node.mask);
}

void Visitor::visit_node(const Call& node) {
  for (const Expr& argument : node.arguments) visit(argument);
}

void Visitor::visit_node(const Reduce& node) {
  for (const Axis& axis : node.axes) {
    visit(axis.min);
    visit(axis.extent);
  }
  visit(node.condition);
  for (const Expr& source : node.sources) visit(source);
  for (const Expr& start : node.init) visit(start);
}

void Visitor::visit_node(const Let& node) {
  visit(node.value);
  visit(node.body);
}

void Visitor::visit_node(const Ramp& node) {
  visit(node.base);
  visit(node.stride);
}

void Visitor::visit_node(const Broadcast& node) { visit(node.value); }
void Visitor::visit_node(const VectorReduce& node) { visit(node.value); }

void Visitor::visit_node(const Store& node) {
  for (const Expr& index : node.indices) visit(index);
  visit(node.value);
  visit(node.mask);
}

void Visitor::visit_node(const For& node) {
  visit(node.min);
  visit(node.extent);
  visit(node.body);
}

void Visitor::visit_node(const Block& node) {
  for (const Stmt& stmt : node.body) visit(stmt);
}

void Visitor::visit_node(const If& node) {
  visit(node.condition);
  visit(node.on_true);
  visit(node.on_false);
}

void Visitor::visit_node(const Allocate& node) {
  for (const Expr& extent : node.buffer->shape) visit(extent);
  for (const Expr& stride : node.buffer->strides) visit(stride);
  visit(node.offset);
  visit(node.body);
}

void Visitor::visit_node(const LetStmt& node) {
  visit(node.value);
  visit(node.body);
}

void Visitor::visit_node(const Assert& node) { visit(node.condition); }
void Visitor::visit_node(const Evaluate& node) { visit(node.value); }
void Visitor::visit_node(const InstructionStmt& node) { visit(node.definition); }

}  // namespace ferry::ir
