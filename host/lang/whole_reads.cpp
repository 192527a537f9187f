#include "host/lang/whole_reads.h"

#include <algorithm>
#include <set>

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/visitor.h"
#include "host/lang/stage.h"

namespace ferry::lang {

namespace {

// Whether some elements may not be needed: where a condition chooses, or the first true element decides.
class Conditions : public ir::Visitor {
 public:
  bool found = false;

 protected:
  using Visitor::visit_node;
  void visit_node(const ir::Select&) override { found = true; }
  void visit_node(const ir::IfThenElse&) override { found = true; }
  void visit_node(const ir::Reduce& node) override {
    const ir::ReduceOp op = node.reducer->op;
    found = found || node.condition.defined() || op == ir::ReduceOp::any || op == ir::ReduceOp::all ||
            op == ir::ReduceOp::user;
    Visitor::visit_node(node);
  }
  void visit_node(const ir::Binary& node) override {
    found = found || node.type.code == DType::boolean;
    Visitor::visit_node(node);
  }
};

bool is_equal_size(const Expr& a, const Expr& b) {
  const auto *x = a.as<ir::IntImm>(), *y = b.as<ir::IntImm>();
  return x != nullptr && y != nullptr ? x->value == y->value : a.same_as(b);
}

// Whether the load visits every element of its tensor when the axes run.
bool reads_all(const ir::Load& load, const Tensor& tensor, const std::vector<ir::Axis>& axes) {
  std::set<const ir::Axis*> used;
  for (std::size_t d = 0; d < load.indices.size(); ++d) {
    const auto axis = std::ranges::find_if(axes, [&](const ir::Axis& one) { return one.var.same_as(load.indices[d]); });
    if (axis == axes.end() || !used.insert(&*axis).second) return false;
    if (!is_equal_size(axis->extent, tensor.shape()[d]) || !is_equal_size(axis->min, Expr(0))) return false;
  }
  return true;
}

void note_reads(const Program& program, const Stage& stage, std::vector<bool>& whole) {
  if (stage.sequence != nullptr || stage.external != nullptr) return;
  for (const Expr& value : stage.values) {
    Conditions conditions;
    conditions.visit(value);
    if (conditions.found) return;
    std::vector<ir::Axis> axes = stage.axes;
    if (const auto* reduce = value.as<ir::Reduce>()) axes.insert(axes.end(), reduce->axes.begin(), reduce->axes.end());
    analysis::for_each_load(value, [&](const ir::Load& load) {
      for (std::size_t p = 0; p < program.parameters.size(); ++p) {
        const Parameter& parameter = program.parameters[p];
        if (parameter.kind != ParameterKind::tensor || parameter.direction != Direction::in) continue;
        if (parameter.tensor.buffer() != load.buffer) continue;
        whole[p] = whole[p] || reads_all(load, parameter.tensor, axes);
      }
    });
  }
}

}  // namespace

std::vector<bool> whole_reads(const Program& program) {
  std::vector<bool> whole(program.parameters.size());
  for (const Parameter& parameter : program.parameters) {
    if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::in) continue;
    if (parameter.tensor.stage() != nullptr) note_reads(program, *parameter.tensor.stage(), whole);
  }
  return whole;
}

}  // namespace ferry::lang
