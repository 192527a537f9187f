#include "host/autoschedule/epilogue_code.h"

#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/lower_math/lower_math.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using schedule::ComputeKind;
using schedule::ScheduledStage;
using schedule::Stages;

namespace {

class ErrorFunctions : public Visitor {
 public:
  explicit ErrorFunctions(const Target& target) : target_(target) {}
  bool has_any = false;

 protected:
  void visit_node(const Call& node) override {
    has_any |=
        node.callee.op == CallOp::math && node.callee.math == MathFunction::erf && passes::is_expanded(node, target_);
    Visitor::visit_node(node);
  }
  using Visitor::visit_node;

 private:
  const Target& target_;
};

}  // namespace

bool has_error_functions(const Stages& stages, const std::vector<std::string>& epilogues, const Target& target) {
  std::vector<const ScheduledStage*> computed;
  for (const std::string& name : epilogues) computed.push_back(find_stage(stages, name));
  ErrorFunctions found(target);
  for (std::size_t i = 0; i < computed.size() && !found.has_any; ++i) {
    for (const Expr& value : computed[i]->values) found.visit(value);
    for (const ScheduledStage& stage : stages)
      if (stage.compute_kind == ComputeKind::inlined && reads(*computed[i], stage.outputs) &&
          std::ranges::find(computed, &stage) == computed.end())
        computed.push_back(&stage);
  }
  return found.has_any;
}

}  // namespace ferry::autoschedule
