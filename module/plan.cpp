#include "module/plan.h"

#include <algorithm>

#include "module/manifest.h"

namespace ferry {
namespace {

bool is_zero(const ManifestExpr& expr) {
  return expr.code.empty() || (expr.code.size() == 1 && expr.code.front() == ManifestInstruction{});
}

}  // namespace

ValueIndex add_value(Plan& plan, std::size_t symbol_count, ManifestExpr expr) {
  if (expr.code.empty()) return kNoValue;
  if (expr.code.size() == 1 && expr.code.front().op == ManifestOp::symbol) {
    const auto index = static_cast<std::uint64_t>(expr.code.front().value);
    if (index < symbol_count + plan.values.size()) return static_cast<ValueIndex>(index);
  }
  const auto known = std::find(plan.values.begin(), plan.values.end(), expr);
  const auto index = static_cast<ValueIndex>(static_cast<std::size_t>(known - plan.values.begin()) + symbol_count);
  if (known == plan.values.end()) plan.values.push_back(std::move(expr));
  return index;
}

ManifestExpr value_expr(const Plan& plan, std::size_t symbol_count, ValueIndex index) {
  if (index < symbol_count) return manifest_symbol(index);
  if (index - symbol_count < plan.values.size()) return plan.values[index - symbol_count];
  return {};
}

void set_native_code(FunctionInfo& function, const NativeCode& code) {
  CallStep call;
  call.symbol = code.symbol;
  call.operands.reserve(function.parameters.size() + function.symbols.size());
  for (std::uint32_t i = 0; i < function.parameters.size(); ++i) {
    const bool is_tensor = function.parameters[i].kind == ParameterKind::tensor;
    call.operands.push_back({is_tensor ? OperandKind::argument : OperandKind::scalar, i, kNoValue});
  }
  for (std::uint32_t i = 0; i < function.symbols.size(); ++i) {
    call.operands.push_back({OperandKind::value, i, kNoValue});
  }
  Plan plan;
  const std::size_t symbols = function.symbols.size();
  if (!is_zero(code.call_workspace)) {
    plan.workspaces.push_back({0, add_value(plan, symbols, code.call_workspace)});
    call.workspace.workspace = 0;
  }
  if (!is_zero(code.thread_workspace)) call.thread_workspace = add_value(plan, symbols, code.thread_workspace);
  plan.steps.emplace_back(std::move(call));
  function.plan = std::move(plan);
}

std::optional<NativeCode> native_code(const FunctionInfo& function) {
  const Plan& plan = function.plan;
  const auto* call = plan.steps.size() == 1 ? std::get_if<CallStep>(&plan.steps.front()) : nullptr;
  if (call == nullptr) return std::nullopt;
  const std::size_t symbols = function.symbols.size();
  NativeCode code{call->symbol, {}, value_expr(plan, symbols, call->thread_workspace)};
  if (call->workspace.is_given()) {
    code.call_workspace = value_expr(plan, symbols, plan.workspaces[call->workspace.workspace].bytes);
  }
  return code;
}

std::vector<std::string> device_ids(const Manifest& manifest) {
  std::vector<std::string> names;
  for (const ModuleDevice& device : manifest.devices) {
    std::string name = device.kind;
    for (int index = 1; std::find(names.begin(), names.end(), name) != names.end(); ++index)
      name = device.kind + ":" + std::to_string(index);
    names.push_back(std::move(name));
  }
  return names;
}

std::optional<std::uint32_t> device_of(const FunctionInfo& function, const Step& step) {
  if (const auto* call = std::get_if<CallStep>(&step)) return call->device;
  if (const auto* launch = std::get_if<LaunchStep>(&step)) return launch->device;
  if (std::holds_alternative<RepeatStep>(step)) return std::nullopt;
  const auto* copy = std::get_if<CopyStep>(&step);
  const Operand& to = copy != nullptr ? copy->to : std::get<FillStep>(step).to;
  switch (to.kind) {
    case OperandKind::argument: return function.parameters[to.index].device;
    case OperandKind::workspace: return function.plan.workspaces[to.index].device;
    case OperandKind::persistent: return function.persistent[to.index].device;
    case OperandKind::scalar:
    case OperandKind::value:
    case OperandKind::constant: break;
  }
  return 0;
}

const std::string& device_name(const ModuleDevice& device) { return device.kind == "cpu" ? device.arch : device.kind; }

}  // namespace ferry
