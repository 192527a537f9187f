#include "host/lower/flops.h"

#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"
#include "host/lang/stage.h"

#include <unordered_set>

namespace ferry::lower {

using namespace ir;

namespace {

class OperationCounter : public Visitor {
 public:
  std::int64_t count = 0;

 protected:
  void visit_node(const Binary& node) override {
    switch (node.op) {
      case BinaryOp::add:
      case BinaryOp::sub:
      case BinaryOp::mul:
      case BinaryOp::div:
      case BinaryOp::mod:
      case BinaryOp::min:
      case BinaryOp::max: ++count; break;
      case BinaryOp::bit_and:
      case BinaryOp::bit_or:
      case BinaryOp::bit_xor:
      case BinaryOp::shl:
      case BinaryOp::shr:
      case BinaryOp::eq:
      case BinaryOp::ne:
      case BinaryOp::lt:
      case BinaryOp::le:
      case BinaryOp::gt:
      case BinaryOp::ge:
      case BinaryOp::logical_and:
      case BinaryOp::logical_or: break;
    }
    Visitor::visit_node(node);
  }
  void visit_node(const Unary& node) override {
    if (node.op == UnaryOp::neg) ++count;
    Visitor::visit_node(node);
  }
  void visit_node(const Call& node) override {
    ++count;
    Visitor::visit_node(node);
  }
  // Conditions and indices control the computation; they are not results.
  void visit_node(const Select& node) override {
    visit(node.on_true);
    visit(node.on_false);
  }
  void visit_node(const IfThenElse& node) override {
    visit(node.on_true);
    visit(node.on_false);
  }
  void visit_node(const Load&) override {}
  using Visitor::visit_node;
};

std::int64_t operations_in(const Expr& expr) {
  OperationCounter counter;
  counter.visit(expr);
  return counter.count;
}

Expr points_of(const std::vector<Axis>& axes) {
  Expr points = 1;
  for (const Axis& axis : axes) points = points * axis.extent;
  return points;
}

// A reduction over a negative extent is empty; the product of two of them must not become positive.
Expr points_of_reduction(const std::vector<Axis>& axes, const std::vector<Expr>& facts) {
  Expr points = 1;
  for (const Axis& axis : axes)
    points = points * (passes::can_prove(axis.extent >= Expr(0), facts) ? axis.extent : max(axis.extent, Expr(0)));
  return points;
}

// Dimensions of inputs and of results are non-negative.
std::vector<Expr> size_facts(const lang::Program& program) {
  std::vector<Expr> facts;
  for (const lang::Parameter& parameter : program.parameters) {
    if (parameter.kind != ParameterKind::tensor) continue;
    for (const Expr& extent : parameter.tensor.shape())
      if (as_int(extent) == nullptr) facts.push_back(extent >= Expr(0));
  }
  return facts;
}

}  // namespace

Expr count_flops(const lang::Program& program) {
  const std::vector<Expr> facts = size_facts(program);
  Expr total = 0;
  std::unordered_set<const lang::Stage*> seen;
  for (const lang::Tensor& tensor : lang::computed_tensors(program)) {
    const lang::Stage* stage = tensor.stage();
    if (!seen.insert(stage).second || !stage->assertion.empty()) continue;
    std::int64_t each = 0;
    Expr points = points_of(stage->axes);
    if (const auto* reduce = stage->values[0].as<Reduce>()) {
      for (const Expr& source : reduce->sources) each += operations_in(source);
      for (const Expr& combine : reduce->reducer->combine) each += operations_in(combine);
      points = points * points_of_reduction(reduce->axes, facts);
    } else {
      for (const Expr& value : stage->values) each += operations_in(value);
    }
    total = total + points * Expr(each);
  }
  return passes::simplify(total);
}

}  // namespace ferry::lower
