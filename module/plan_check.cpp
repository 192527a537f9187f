#include "base/format.h"
#include "module/manifest_check.h"

namespace ferry::manifest_check {

std::vector<bool> symbols_of_constants(const FunctionInfo& function) {
  std::vector<bool> known(function.symbols.size());
  for (const ParameterInfo& parameter : function.parameters) {
    if (!parameter.is_constant) continue;
    for (const ManifestExpr& size : parameter.shape) {
      if (size.code.size() == 1 && size.code.front().op == ManifestOp::symbol) {
        known[static_cast<std::size_t>(size.code.front().value)] = true;
      }
    }
  }
  return known;
}

namespace {

class PlanChecker {
 public:
  PlanChecker(const Manifest& manifest, const FunctionInfo& function, bool is_init)
      : manifest_(manifest),
        function_(function),
        plan_(is_init ? function.init : function.plan),
        is_init_(is_init),
        where_(is_init ? function.name + ": init plan" : function.name) {}

  Status run() {
    FERRY_TRY(check_count(where_, "values", plan_.values.size(), kMaxValues));
    FERRY_TRY(check_count(where_, "workspaces", plan_.workspaces.size(), kMaxWorkspaces));
    FERRY_TRY(check_count(where_, "steps", plan_.steps.size(), kMaxSteps));
    FERRY_TRY(check_values());
    FERRY_TRY(check_repeats());
    for (const Workspace& workspace : plan_.workspaces) {
      FERRY_TRY(index("a workspace on a device", workspace.device, manifest_.devices.size()));
      FERRY_TRY(fixed("a workspace's size", workspace.bytes));
    }
    for (const Step& step : plan_.steps) {
      FERRY_TRY(std::visit([this](const auto& one) { return check(one); }, step));
    }
    if (!is_init_) return Status();
    FERRY_TRY(check_constants());
    for (const PersistentBuffer& buffer : function_.persistent) {
      FERRY_TRY(fixed("a persistent buffer's size", buffer.bytes));
    }
    return Status();
  }

 private:
  std::size_t symbols() const { return function_.symbols.size(); }

  Status index(const char* what, std::size_t got, std::size_t count, const char* kind = "") const {
    if (got < count) return Status();
    return refuse(where_, format("expected %s%s below %zu, got %zu", what, kind, count, got));
  }

  Status value(const char* what, ValueIndex got) const {
    if (got == kNoValue) return Status();
    FERRY_TRY(index(what, got, symbols() + plan_.values.size(), " that is a value"));
    if (known_.empty() || known_[got]) return Status();
    return refuse(where_, format("expected %s that the constant inputs determine, got value %u", what, got));
  }

  // Checks a value that is the same in all iterations of a repeat.
  Status fixed(const char* what, ValueIndex got) const {
    FERRY_TRY(value(what, got));
    if (got >= is_loop_value_.size() || !is_loop_value_[got]) return Status();
    return refuse(where_, format("expected %s that no repeat changes, got value %u", what, got));
  }

  // Finds the loop values, and checks that a repeat ends where those around it do or before.
  Status check_repeats() {
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      while (!ends.empty() && ends.back() == i) ends.pop_back();
      const auto* repeat = std::get_if<RepeatStep>(&plan_.steps[i]);
      if (repeat == nullptr) continue;
      const std::size_t most = (ends.empty() ? plan_.steps.size() : ends.back()) - i - 1;
      if (repeat->steps == 0 || repeat->steps > most) {
        return refuse(where_, format("expected a repeat of 1 to %zu steps, got %u", most, repeat->steps));
      }
      ends.push_back(i + 1 + repeat->steps);
      FERRY_TRY(check_count(where_, "repeats around a step", ends.size(), kMaxRepeatDepth));
      FERRY_TRY(check_count(where_, "loop values", repeat->values.size(), kMaxLoopValues));
      is_loop_value_.resize(symbols() + plan_.values.size());
      std::size_t least = symbols();
      for (const LoopValue& loop : repeat->values) {
        FERRY_TRY(value("a loop value", loop.value));
        if (loop.value == kNoValue || loop.value < least) {
          return refuse(where_,
                        format("expected loop values in ascending order from %zu on, got %u", least, loop.value));
        }
        is_loop_value_[loop.value] = true;
        least = std::size_t{loop.value} + 1;
      }
    }
    return Status();
  }

  Status check_known(const char* what, const ManifestExpr& expr) const {
    for (const ManifestInstruction& instruction : expr.code) {
      if (instruction.op != ManifestOp::symbol) continue;
      FERRY_TRY(value(what, static_cast<ValueIndex>(instruction.value)));
    }
    return Status();
  }

  Status check_values() {
    if (is_init_) known_ = symbols_of_constants(function_);
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      FERRY_TRY(check_expr(where_, "value", plan_.values[i], symbols() + i));
      if (!is_init_) continue;
      FERRY_TRY(check_known("a value", plan_.values[i]));
      known_.push_back(true);
    }
    return Status();
  }

  // The size of a constant must be known when an instance is bound.
  Status check_constants() const {
    for (const ParameterInfo& parameter : function_.parameters) {
      if (!parameter.is_constant) continue;
      for (const auto* sizes : {&parameter.shape, &parameter.strides}) {
        for (const ManifestExpr& size : *sizes) FERRY_TRY(check_known("a constant's size", size));
      }
    }
    return Status();
  }

  Status check_operand(const Operand& operand) const {
    FERRY_TRY(value("an operand's offset", operand.offset));
    const bool is_tensor = operand.kind == OperandKind::argument;
    switch (operand.kind) {
      case OperandKind::argument:
      case OperandKind::scalar: {
        const bool fits = operand.index < function_.parameters.size() &&
                          (function_.parameters[operand.index].kind == ParameterKind::tensor) == is_tensor;
        if (!fits) {
          return refuse(where_, format("expected an operand that is a %s parameter, got number %u",
                                       is_tensor ? "tensor" : "scalar", operand.index));
        }
        if (!is_init_ || function_.parameters[operand.index].is_constant) return Status();
        return refuse(where_, "expected an operand that is a constant input, got '" +
                                  function_.parameters[operand.index].name + "'");
      }
      case OperandKind::workspace: return index("a workspace", operand.index, plan_.workspaces.size());
      case OperandKind::value:
        if (operand.index == kNoValue) return refuse(where_, "expected an operand that is a value, got none");
        return value("an operand", operand.index);
      case OperandKind::constant: return index("a constant", operand.index, manifest_.constants.size());
      case OperandKind::persistent: return index("a persistent buffer", operand.index, function_.persistent.size());
    }
    return refuse(where_, "expected a known kind of operand");
  }

  static bool is_number(const Operand& operand) {
    return operand.kind == OperandKind::scalar || operand.kind == OperandKind::value;
  }

  // Checks an operand of a copy or a fill.
  Status check_memory(const Operand& operand, bool is_written) const {
    FERRY_TRY(check_operand(operand));
    if (is_number(operand)) return refuse(where_, "expected memory to copy or fill, got a number");
    if (!is_written) return Status();
    const bool is_read_only =
        operand.kind == OperandKind::constant || (operand.kind == OperandKind::persistent && !is_init_) ||
        (operand.kind == OperandKind::argument && function_.parameters[operand.index].direction == Direction::in);
    return is_read_only ? refuse(where_, "expected memory that the plan may write, got an input") : Status();
  }

  // Checks that the memory of a step's operand is on the step's device.
  Status check_memory_on(std::uint32_t step_device, std::uint32_t device) const {
    if (step_device == device) return Status();
    return refuse(where_, format("expected memory on device %u, where the step runs, got some on device %u",
                                 step_device, device));
  }

  Status check_place(const WorkspacePlace& place, std::uint32_t device) const {
    if (!place.is_given()) return Status();
    FERRY_TRY(index("a workspace", place.workspace, plan_.workspaces.size()));
    FERRY_TRY(check_memory_on(device, plan_.workspaces[place.workspace].device));
    return fixed("a place's offset", place.offset);
  }

  Status check_operands(const std::vector<Operand>& operands, std::uint32_t device) const {
    FERRY_TRY(check_count(where_, "operands", operands.size(), kMaxOperands));
    for (const Operand& operand : operands) {
      FERRY_TRY(check_operand(operand));
      FERRY_TRY(check_memory_on(device, device_of(operand, device)));
    }
    return Status();
  }

  // Returns the device of an operand that has been checked; `otherwise` for numbers.
  std::uint32_t device_of(const Operand& operand, std::uint32_t otherwise) const {
    switch (operand.kind) {
      case OperandKind::argument: return function_.parameters[operand.index].device;
      case OperandKind::workspace: return plan_.workspaces[operand.index].device;
      case OperandKind::constant: return manifest_.constants[operand.index].device;
      case OperandKind::persistent: return function_.persistent[operand.index].device;
      case OperandKind::scalar:
      case OperandKind::value: break;
    }
    return otherwise;
  }

  Status check_device(std::uint32_t device, bool wants_cpu) const {
    FERRY_TRY(index("a step on a device", device, manifest_.devices.size()));
    if ((manifest_.devices[device].kind == "cpu") == wants_cpu) return Status();
    return refuse(where_, wants_cpu ? "expected calls on a CPU, got one on " + manifest_.devices[device].kind
                                    : "expected launches on a GPU, got one on a CPU");
  }

  Status check_messages(std::uint32_t first) const {
    return index("a first message", first, function_.messages.size() + 1);
  }

  Status check(const CallStep& step) {
    FERRY_TRY(check_name(where_, "symbol of its code", step.symbol));
    FERRY_TRY(check_device(step.device, true));
    FERRY_TRY(check_operands(step.operands, step.device));
    FERRY_TRY(check_place(step.workspace, step.device));
    FERRY_TRY(fixed("a thread's workspace", step.thread_workspace));
    return check_messages(step.first_message);
  }

  Status check(const LaunchStep& step) {
    FERRY_TRY(check_name(where_, "kernel name", step.kernel));
    FERRY_TRY(check_device(step.device, false));
    const std::string outer = std::move(where_);
    where_ = outer + ": kernel '" + step.kernel + "'";
    for (const ValueIndex extent : step.grid) FERRY_TRY(fixed("a grid", extent));
    for (const ValueIndex extent : step.block) FERRY_TRY(fixed("a block", extent));
    FERRY_TRY(fixed("shared memory", step.shared_bytes));
    FERRY_TRY(check_operands(step.operands, step.device));
    FERRY_TRY(check_place(step.result, step.device));
    FERRY_TRY(check_messages(step.first_message));
    where_ = outer;
    return Status();
  }

  Status check(const CopyStep& step) {
    FERRY_TRY(check_memory(step.from, false));
    FERRY_TRY(check_memory(step.to, true));
    return fixed("a copy's size", step.bytes);
  }

  Status check(const FillStep& step) {
    FERRY_TRY(check_memory(step.to, true));
    if (step.pattern_bytes != 1 && step.pattern_bytes != 2 && step.pattern_bytes != 4) {
      return refuse(where_, format("expected a pattern of 1, 2 or 4 bytes, got %u", unsigned{step.pattern_bytes}));
    }
    return fixed("a fill's size", step.bytes);
  }

  Status check(const RepeatStep& step) const {
    for (const LoopValue& loop : step.values) FERRY_TRY(fixed("a stride", loop.stride));
    if (step.condition) {
      FERRY_TRY(check_operand(*step.condition));
      if (is_number(*step.condition)) return refuse(where_, "expected memory with a condition, got a number");
      FERRY_TRY(fixed("a condition's offset", step.condition->offset));
    }
    return fixed("a count of iterations", step.count);
  }

  const Manifest& manifest_;
  const FunctionInfo& function_;
  const Plan& plan_;
  bool is_init_;
  std::string where_;
  std::vector<bool> known_;          // empty: all symbols and values are
  std::vector<bool> is_loop_value_;  // for each symbol and value; empty without repeats
};

}  // namespace

Status check_plans(const Manifest& manifest, const FunctionInfo& function) {
  FERRY_TRY(check_count(function.name, "persistent buffers", function.persistent.size(), kMaxPersistent));
  for (const PersistentBuffer& buffer : function.persistent) {
    if (buffer.device < manifest.devices.size()) continue;
    return refuse(function.name, format("expected a persistent buffer on a device below %zu, got %u",
                                        manifest.devices.size(), buffer.device));
  }
  FERRY_TRY(PlanChecker(manifest, function, false).run());
  return PlanChecker(manifest, function, true).run();
}

}  // namespace ferry::manifest_check
