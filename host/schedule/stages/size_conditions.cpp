#include "host/schedule/stages/size_conditions.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <algorithm>
#include <unordered_set>

namespace ferry::schedule {

using namespace ir;

namespace {

class SizeConditions {
 public:
  void note_result(const ScheduledStage& stage) {
    for (const Axis& axis : stage.axes) note_size(axis.extent);
  }

  void note_inputs(const Expr& value) {
    for (const Load* load : analysis::loads_of(value)) {
      if (load->buffer->scope != Scope::parameter || !inputs_.insert(load->buffer.get()).second) continue;
      for (const Expr& extent : load->buffer->shape) note_size(extent);
    }
  }

  std::vector<Expr> conditions;

 private:
  void note_size(const Expr& size) {
    if (as_int(size) != nullptr) return;
    const auto is_known = [&](const Expr& other) { return equal(other, size); };
    if (std::any_of(sizes_.begin(), sizes_.end(), is_known)) return;
    sizes_.push_back(size);
    conditions.insert(size.kind() == ExprKind::Var ? conditions.begin() : conditions.end(), size >= Expr(0));
  }

  std::vector<Expr> sizes_;
  std::unordered_set<const Buffer*> inputs_;
};

}  // namespace

std::vector<Expr> size_conditions(const Stages& stages) {
  SizeConditions sizes;
  for (const ScheduledStage& stage : stages) {
    if (stage.is_result) sizes.note_result(stage);
    for (const Expr& value : stage.expressions()) sizes.note_inputs(value);
  }
  return std::move(sizes.conditions);
}

}  // namespace ferry::schedule
