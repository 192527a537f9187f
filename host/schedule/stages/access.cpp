#include "host/schedule/stages/access.h"

#include "crosscompile/ir/operators.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/simplify/simplify.h"

namespace ferry::schedule {

using namespace ir;

Step step_of(const Load& load, const Expr& var) {
  Step step = Step::none;
  for (std::size_t d = 0; d < load.indices.size(); ++d) {
    if (!uses_var(load.indices[d], var)) continue;
    const std::vector<Expr>& strides = load.buffer->strides;
    if (d + 1 != load.indices.size() || (!strides.empty() && !is_constant(strides[d], 1))) return Step::strided;
    const Expr next = substitute(load.indices[d], {{var.get(), var + Expr(1)}});
    const Expr distance = passes::simplify(next - load.indices[d]);
    const std::int64_t* constant_distance = as_int(distance);
    if (constant_distance == nullptr || *constant_distance < 1 || *constant_distance > 4) return Step::strided;
    step = *constant_distance == 1 ? Step::contiguous : Step::skipping;
  }
  return step;
}

namespace {

class LoadCollector : public Visitor {
 public:
  std::vector<const Load*> loads;

 protected:
  void visit_node(const Load& node) override {
    loads.push_back(&node);
    Visitor::visit_node(node);
  }
  using Visitor::visit_node;
};

}  // namespace

std::vector<const Load*> loads_of(const Expr& expr) {
  LoadCollector collector;
  collector.visit(expr);
  return collector.loads;
}

}  // namespace ferry::schedule
