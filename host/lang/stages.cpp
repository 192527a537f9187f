#include "host/lang/stages.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace ferry::lang {
namespace {

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
    for (const ir::Load* load : loads_of(*stage))
      if (stage->sequence == nullptr || load->buffer != stage->sequence->self) reach(Tensor(load->buffer));
    if (stage->sequence != nullptr && stage->sequence->is_scatter()) reach(stage->sequence->before);
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
  std::vector<const ir::Load*> loads;
  for (const Expr& value : stage.values)
    analysis::for_each_load(value, [&](const ir::Load& load) { loads.push_back(&load); });
  if (stage.sequence != nullptr)
    for (const Expr& index : stage.sequence->place)
      analysis::for_each_load(index, [&](const ir::Load& load) { loads.push_back(&load); });
  return loads;
}

RequiredTensors tensors_required_by(const std::vector<Tensor>& outputs) {
  Walk walk;
  for (const Tensor& output : outputs) walk.reach(output);
  return walk.finish();
}

}  // namespace ferry::lang
