#include "host/graph/plan/append_call.h"

#include "crosscompile/ir/error.h"

#include <algorithm>

namespace ferry::graph {
namespace {

// Renumbers the steps of one plan.
class StepMover {
 public:
  StepMover(const FunctionInfo& kernel, const AppendedCall& call, std::size_t first_persistent,
            std::size_t first_message, PlanValues& values)
      : kernel_(kernel),
        call_(call),
        first_persistent_(static_cast<std::uint32_t>(first_persistent)),
        first_message_(static_cast<std::uint32_t>(first_message)),
        values_(values) {
    std::size_t tensors = 0, scalars = 0;
    for (const ParameterInfo& parameter : kernel.parameters) {
      const bool is_tensor = parameter.kind == ParameterKind::tensor;
      tensors_.push_back(is_tensor ? tensors++ : 0);
      scalars_.push_back(is_tensor ? 0 : scalars++);
    }
  }

  Step moved(const Step& step) {
    Step result = step;
    std::visit([this](auto& one) { move(one); }, result);
    return result;
  }

 private:
  void move(CallStep& step) {
    for (Operand& operand : step.operands) move(operand);
    move(step.workspace);
    step.thread_workspace = call_.value(step.thread_workspace);
    step.first_message += first_message_;
  }

  void move(LaunchStep& step) {
    for (ValueIndex& extent : step.grid) extent = call_.value(extent);
    for (ValueIndex& extent : step.block) extent = call_.value(extent);
    step.shared_bytes = call_.value(step.shared_bytes);
    for (Operand& operand : step.operands) move(operand);
    move(step.result);
    step.first_message += first_message_;
  }

  void move(CopyStep& step) {
    move(step.to);
    move(step.from);
    step.bytes = call_.value(step.bytes);
  }

  void move(FillStep& step) {
    move(step.to);
    step.bytes = call_.value(step.bytes);
  }

  // A kernel repeats steps once or not at all, to choose among codes by its sizes (module/sized_variant.h).
  void move(RepeatStep& step) {
    if (!step.values.empty() || step.condition)
      throw InternalError(kernel_.name + ": expected a kernel without loops of its own");
    step.count = call_.value(step.count);
  }

  // Returns the offset inside of what begins at `base`.
  ValueIndex within(ValueIndex base, ValueIndex offset) {
    return offset == kNoValue ? base : values_.as_offset(values_.add(ManifestOp::add, base, call_.value(offset)));
  }

  void move(WorkspacePlace& place) {
    if (!place.is_given()) return;
    const WorkspacePlace& block = call_.workspaces[place.workspace];
    place = {block.workspace, within(block.offset, place.offset)};
  }

  void move(Operand& operand) {
    switch (operand.kind) {
      case OperandKind::argument: {
        const Operand& tensor = call_.tensors[tensors_[operand.index]];
        operand = {tensor.kind, tensor.index, within(tensor.offset, operand.offset)};
        return;
      }
      case OperandKind::workspace: {
        const WorkspacePlace& block = call_.workspaces[operand.index];
        operand = {OperandKind::workspace, block.workspace, within(block.offset, operand.offset)};
        return;
      }
      case OperandKind::scalar:
        operand = {OperandKind::value, call_.scalars[scalars_[operand.index]], kNoValue};
        return;
      case OperandKind::value: operand.index = call_.values[operand.index]; return;
      case OperandKind::persistent:
        operand.index += first_persistent_;
        operand.offset = call_.value(operand.offset);
        return;
      case OperandKind::constant: break;
    }
    throw InternalError(kernel_.name + ": expected a kernel without constants of its own");
  }

  const FunctionInfo& kernel_;
  const AppendedCall& call_;
  std::uint32_t first_persistent_, first_message_;
  PlanValues& values_;
  // For each parameter its number among the tensors or scalars.
  std::vector<std::size_t> tensors_, scalars_;
};

// Whether a call has this workspace already.
bool is_of(const AppendedCall& call, std::size_t workspace) {
  return std::ranges::any_of(call.workspaces, [&](const auto& place) { return place.workspace == workspace; });
}

// Returns the kernel's init plan as a call whose values are those of the network's init plan. Constants have fixed
// shapes, so no value depends on a symbol.
AppendedCall init_call(const FunctionInfo& kernel, const AppendedCall& call, Plan& init, PlanValues& values) {
  AppendedCall appended;
  appended.tensors = call.tensors;
  appended.values.resize(kernel.symbols.size(), kNoValue);
  const auto known = [&](const ManifestExpr& expr) {
    for (const ManifestInstruction& instruction : expr.code)
      if (instruction.op == ManifestOp::symbol &&
          appended.value(static_cast<ValueIndex>(instruction.value)) == kNoValue)
        throw InternalError(kernel.name + ": expected an init plan of fixed sizes");
  };
  for (const ManifestExpr& value : kernel.init.values) {
    known(value);
    appended.values.push_back(values.add(value, appended.values));
  }
  // Steps of different kernels run one after the other, so their workspaces share memory.
  std::size_t next = 0;
  const auto keeps = [&](std::size_t workspace) { return keeps_result(init, workspace); };
  for (std::size_t w = 0; w < kernel.init.workspaces.size(); ++w) {
    const ValueIndex bytes = appended.value(kernel.init.workspaces[w].bytes);
    if (keeps_result(kernel.init, w)) {
      appended.workspaces.push_back({static_cast<std::uint32_t>(init.workspaces.size()), kNoValue});
      init.workspaces.push_back({kernel.init.workspaces[w].device, bytes});
      continue;
    }
    const auto is_elsewhere = [&](std::size_t n) {
      return init.workspaces[n].device != kernel.init.workspaces[w].device;
    };
    while (next < init.workspaces.size() && (keeps(next) || is_of(appended, next) || is_elsewhere(next))) ++next;
    if (next == init.workspaces.size()) init.workspaces.push_back({kernel.init.workspaces[w].device, bytes});
    init.workspaces[next].bytes = values.add(ManifestOp::max, init.workspaces[next].bytes, bytes);
    appended.workspaces.push_back({static_cast<std::uint32_t>(next), kNoValue});
  }
  return appended;
}

}  // namespace

bool keeps_result(const Plan& plan, std::size_t workspace) {
  return std::ranges::any_of(plan.steps, [&](const Step& step) {
    const auto* launch = std::get_if<LaunchStep>(&step);
    return launch != nullptr && launch->result.is_given() && launch->result.workspace == workspace;
  });
}

void append_call(const FunctionInfo& kernel, const AppendedCall& call, const std::vector<std::string>& messages,
                 FunctionInfo& function, PlanValues& values, PlanValues& init_values) {
  const std::size_t first_persistent = function.persistent.size(), first_message = function.messages.size();
  function.messages.insert(function.messages.end(), messages.begin(), messages.end());
  StepMover mover(kernel, call, first_persistent, first_message, values);
  for (const Step& step : kernel.plan.steps) function.plan.steps.push_back(mover.moved(step));
  if (!needs_instance(kernel)) return;
  const AppendedCall init = init_call(kernel, call, function.init, init_values);
  for (const PersistentBuffer& buffer : kernel.persistent)
    function.persistent.push_back({buffer.device, init.value(buffer.bytes)});
  StepMover init_mover(kernel, init, first_persistent, first_message, init_values);
  for (const Step& step : kernel.init.steps) function.init.steps.push_back(init_mover.moved(step));
}

}  // namespace ferry::graph
