#include "module/sized_variant.h"

#include "module/change_step.h"
#include "module/manifest_check.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ferry {
namespace {

using Sizes = std::span<const std::int64_t>;

bool is_same_parameter(const ParameterInfo& a, const ParameterInfo& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.direction == b.direction && a.device == b.device &&
         a.shape.size() == b.shape.size() && a.strides.size() == b.strides.size();
}

bool has_loops(const Plan& plan) {
  return std::ranges::any_of(plan.steps, [](const Step& step) {
    const auto* repeat = std::get_if<RepeatStep>(&step);
    return repeat != nullptr && (!repeat->values.empty() || repeat->condition);
  });
}

// Returns whether the symbols of `which` have these sizes, as an expression; without code if there are none.
ManifestExpr comparison(Sizes sizes, const std::vector<bool>& which) {
  ManifestExpr all;
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    if (!which[s]) continue;
    ManifestExpr is_equal =
        manifest_apply(ManifestOp::eq, {manifest_symbol(static_cast<ValueIndex>(s)), manifest_constant(sizes[s])});
    all = all.code.empty() ? std::move(is_equal)
                           : manifest_apply(ManifestOp::logical_and, {std::move(all), std::move(is_equal)});
  }
  return all;
}

// Appends what one plan does to another one.
class PlanJoin {
 public:
  // `condition` is when `added` counts; kNoValue: always. The steps of `added` refer to persistent buffers and messages
  // from these numbers on.
  PlanJoin(Plan& plan, Plan added, std::size_t symbols, ManifestExpr condition, std::size_t first_persistent,
           std::size_t first_message)
      : plan_(plan),
        added_(std::move(added)),
        symbols_(symbols),
        condition_(add_value(plan, symbols, std::move(condition))),
        first_persistent_(static_cast<std::uint32_t>(first_persistent)),
        first_message_(static_cast<std::uint32_t>(first_message)) {
    // The variant has no symbols, so its values are numbered from 0 on.
    for (ManifestExpr& expr : added_.values) {
      for (ManifestInstruction& instruction : expr.code)
        if (instruction.op == ManifestOp::symbol)
          instruction.value = values_.at(static_cast<std::size_t>(instruction.value));
      values_.push_back(add_value(plan_, symbols_, std::move(expr)));
    }
    share_workspaces();
    for (Step& step : added_.steps) move(step);
  }

  ValueIndex condition() const { return condition_; }
  std::vector<Step> take_steps() { return std::move(added_.steps); }
  // Returns a number of bytes of the variant that is needed only under the condition.
  ValueIndex bytes_if_chosen(ValueIndex bytes) { return select(value(bytes), kNoValue); }

 private:
  ValueIndex value(ValueIndex own) const { return own == kNoValue ? kNoValue : values_.at(own); }

  ValueIndex select(ValueIndex chosen, ValueIndex otherwise) {
    if (condition_ == kNoValue || chosen == otherwise) return chosen;
    const auto operand = [](ValueIndex index) {
      return index == kNoValue ? manifest_constant(0) : manifest_symbol(index);
    };
    return add_value(
        plan_, symbols_,
        manifest_apply(ManifestOp::select, {manifest_symbol(condition_), operand(chosen), operand(otherwise)}));
  }

  // Only one of the two plans runs, so their workspaces share memory.
  void share_workspaces() {
    std::vector<bool> is_taken(plan_.workspaces.size());
    for (const Workspace& own : added_.workspaces) {
      std::size_t place = 0;
      while (place < is_taken.size() && (is_taken[place] || plan_.workspaces[place].device != own.device)) ++place;
      if (place == is_taken.size()) {
        is_taken.push_back(true);
        plan_.workspaces.push_back({own.device, kNoValue});
      }
      is_taken[place] = true;
      plan_.workspaces[place].bytes = select(value(own.bytes), plan_.workspaces[place].bytes);
      workspaces_.push_back(static_cast<std::uint32_t>(place));
    }
  }

  void move(Step& step) {
    change_values(step, [this](ValueIndex& index) { index = value(index); });
    move_messages(step, first_message_);
    change_operands(step, [this](Operand& operand) {
      if (operand.kind == OperandKind::workspace) operand.index = workspaces_.at(operand.index);
      if (operand.kind == OperandKind::persistent) operand.index += first_persistent_;
    });
    if (auto* call = std::get_if<CallStep>(&step)) move(call->workspace);
    if (auto* launch = std::get_if<LaunchStep>(&step)) move(launch->result);
  }
  void move(WorkspacePlace& place) const {
    if (place.is_given()) place.workspace = workspaces_.at(place.workspace);
  }

  Plan& plan_;
  Plan added_;
  std::size_t symbols_;
  ValueIndex condition_;
  std::uint32_t first_persistent_, first_message_;
  std::vector<ValueIndex> values_;         // the variant's values in the plan
  std::vector<std::uint32_t> workspaces_;  // and its workspaces
};

// Appends steps that run once if the value is 1, and not if it is 0; kNoValue: always.
void append_if(ValueIndex condition, std::vector<Step> steps, std::vector<Step>& all) {
  if (steps.empty()) return;
  if (condition != kNoValue) all.emplace_back(RepeatStep{condition, static_cast<std::uint32_t>(steps.size()), {}});
  std::ranges::move(steps, std::back_inserter(all));
}

Status misfit(const FunctionInfo& function, const FunctionInfo& variant) {
  return {ErrorCode::invalid_argument, variant.name + ": expected the parameters of " + function.name +
                                           " with all of its sizes fixed, got " + signature_text(variant)};
}

std::size_t most_steps(std::span<const Step> steps) {
  std::size_t outside = 0, most = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto* repeat = std::get_if<RepeatStep>(&steps[s]);
    if (repeat == nullptr) {
      ++outside;
      continue;
    }
    most = std::max(most, most_steps(steps.subspan(s + 1, repeat->steps)));
    s += repeat->steps;
  }
  return outside + most;
}

}  // namespace

Status attach_variant(FunctionInfo& function, FunctionInfo variant, Sizes sizes) {
  const bool fits = variant.symbols.empty() && !function.symbols.empty() && sizes.size() == function.symbols.size() &&
                    std::ranges::equal(function.parameters, variant.parameters, is_same_parameter) &&
                    !has_loops(function.plan) && !has_loops(variant.plan);
  if (!fits) return misfit(function, variant);
  for (std::size_t p = 0; p < function.parameters.size(); ++p)
    function.parameters[p].is_constant |= variant.parameters[p].is_constant;
  const std::size_t symbols = function.symbols.size(), first_persistent = function.persistent.size();
  std::size_t first_message = 0;
  if (variant.messages != function.messages) {
    first_message = function.messages.size();
    std::ranges::move(variant.messages, std::back_inserter(function.messages));
  }

  if (needs_instance(variant)) {
    PlanJoin init(function.init, std::move(variant.init), symbols,
                  comparison(sizes, manifest_check::symbols_of_constants(function)), first_persistent, first_message);
    for (const PersistentBuffer& buffer : variant.persistent)
      function.persistent.push_back({buffer.device, init.bytes_if_chosen(buffer.bytes)});
    append_if(init.condition(), init.take_steps(), function.init.steps);
  }

  PlanJoin join(function.plan, std::move(variant.plan), symbols, comparison(sizes, std::vector<bool>(symbols, true)),
                first_persistent, first_message);
  const ValueIndex otherwise =
      add_value(function.plan, symbols, manifest_apply(ManifestOp::logical_not, {manifest_symbol(join.condition())}));
  std::vector<Step> steps;
  append_if(join.condition(), join.take_steps(), steps);
  append_if(otherwise, std::move(function.plan.steps), steps);
  function.plan.steps = std::move(steps);
  return {};
}

std::size_t most_steps_of_call(const Plan& plan) { return most_steps(plan.steps); }

}  // namespace ferry
