#include "host/lang/stages.h"

#include "crosscompile/ir/visitor.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace ferry::lang {
namespace {

class Loads : public ir::Visitor {
 public:
  std::vector<const ir::Load*> found;

 protected:
  using Visitor::visit_node;
  void visit_node(const ir::Load& node) override {
    found.push_back(&node);
    Visitor::visit_node(node);
  }
};

class Walk {
 public:
  void reach(const Tensor& tensor) {
    const Stage* stage = tensor.stage();
    if (stage == nullptr) {
      if (seen_.insert(tensor.buffer().get()).second) needed_.placeholders.push_back(tensor);
      return;
    }
    const bool first = outputs_.find(stage) == outputs_.end();
    std::vector<Tensor>& outputs = outputs_[stage];
    if (seen_.insert(tensor.buffer().get()).second) outputs.push_back(tensor);
    if (!first) return;
    for (const ir::Load* load : loads_of(*stage)) reach(Tensor(load->buffer));
    for (const Tensor& check : stage->checks) reach(check);
    order_.push_back(stage);
  }

  RequiredTensors finish() {
    for (const Stage* stage : order_) {
      std::vector<Tensor>& outputs = outputs_[stage];
      std::sort(outputs.begin(), outputs.end(),
                [](const Tensor& a, const Tensor& b) { return a.buffer()->component < b.buffer()->component; });
      needed_.computed.insert(needed_.computed.end(), outputs.begin(), outputs.end());
    }
    return std::move(needed_);
  }

 private:
  RequiredTensors needed_;
  std::unordered_set<const ir::Buffer*> seen_;
  std::unordered_map<const Stage*, std::vector<Tensor>> outputs_;
  std::vector<const Stage*> order_;
};

}  // namespace

std::vector<const ir::Load*> loads_of(const Stage& stage) {
  Loads loads;
  for (const Expr& value : stage.values) loads.visit(value);
  return std::move(loads.found);
}

std::vector<const ir::Load*> loads_of(const Expr& expr) {
  Loads loads;
  loads.visit(expr);
  return std::move(loads.found);
}

RequiredTensors tensors_required_by(const std::vector<Tensor>& outputs) {
  Walk walk;
  for (const Tensor& output : outputs) walk.reach(output);
  return walk.finish();
}

}  // namespace ferry::lang
