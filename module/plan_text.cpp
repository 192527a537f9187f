#include <algorithm>

#include "module/manifest.h"

namespace ferry {
namespace {

std::string value_name(const FunctionInfo& function, ValueIndex index) {
  return "value " + std::to_string(index - function.symbols.size());
}

// Returns what the value is where no repeat lets it grow.
std::string expr_text(const FunctionInfo& function, ValueIndex index) {
  const std::size_t symbols = function.symbols.size();
  const ManifestExpr expr = value_expr(function.plan, symbols, index);
  // Text with every earlier value written out could be exponentially long.
  if (!expr.code.empty() && !check_manifest_expr(expr, symbols).is_ok()) return value_name(function, index);
  return to_text(expr, function.symbols);
}

bool is_loop_value(const Plan& plan, ValueIndex index) {
  return std::ranges::any_of(plan.steps, [index](const Step& step) {
    const auto* repeat = std::get_if<RepeatStep>(&step);
    return repeat != nullptr && std::ranges::find(repeat->values, index, &LoopValue::value) != repeat->values.end();
  });
}

std::string operand_text(const FunctionInfo& function, const Operand& operand) {
  std::string text;
  switch (operand.kind) {
    case OperandKind::argument:
    case OperandKind::scalar: text = function.parameters[operand.index].name; break;
    case OperandKind::workspace: text = "workspace " + std::to_string(operand.index); break;
    case OperandKind::value: return value_text(function, operand.index);
    case OperandKind::constant: text = "constant " + std::to_string(operand.index); break;
    case OperandKind::persistent: text = "persistent " + std::to_string(operand.index); break;
  }
  return operand.offset == kNoValue ? text : text + " + " + value_text(function, operand.offset);
}

std::string operands_text(const FunctionInfo& function, const std::vector<Operand>& operands) {
  std::string text = "(";
  for (const Operand& operand : operands) {
    if (text.size() > 1) text += ", ";
    text += operand_text(function, operand);
  }
  return text + ")";
}

std::string extents_text(const FunctionInfo& function, const std::array<ValueIndex, 3>& extents) {
  std::string text = "[";
  for (const ValueIndex extent : extents) {
    if (text.size() > 1) text += ", ";
    text += extent == kNoValue ? "1" : value_text(function, extent);
  }
  return text + "]";
}

}  // namespace

std::string value_text(const FunctionInfo& function, ValueIndex index) {
  const bool may_change = index >= function.symbols.size() && is_loop_value(function.plan, index);
  return may_change ? value_name(function, index) : expr_text(function, index);
}

std::string step_text(const FunctionInfo& function, const Step& step) {
  if (const auto* call = std::get_if<CallStep>(&step)) {
    std::string text = "call " + call->symbol + operands_text(function, call->operands);
    if (call->workspace.is_given()) text += " with workspace " + std::to_string(call->workspace.workspace);
    if (call->thread_workspace == kNoValue) return text;
    return text + " with " + value_text(function, call->thread_workspace) + " bytes a thread";
  }
  if (const auto* launch = std::get_if<LaunchStep>(&step)) {
    return "launch " + launch->kernel + extents_text(function, launch->grid) + extents_text(function, launch->block) +
           operands_text(function, launch->operands);
  }
  if (const auto* copy = std::get_if<CopyStep>(&step)) {
    return "copy " + value_text(function, copy->bytes) + " bytes to " + operand_text(function, copy->to) + " from " +
           operand_text(function, copy->from);
  }
  if (const auto* repeat = std::get_if<RepeatStep>(&step)) {
    std::string text =
        "repeat the next " + std::to_string(repeat->steps) + " steps " + value_text(function, repeat->count) + " times";
    if (repeat->condition) text += " at most, while " + operand_text(function, *repeat->condition) + " is true";
    for (const LoopValue& loop : repeat->values) {
      text += ", " + value_text(function, loop.value) + " from " + expr_text(function, loop.value) + " by " +
              value_text(function, loop.stride);
    }
    return text;
  }
  const auto& fill = std::get<FillStep>(step);
  return "fill " + value_text(function, fill.bytes) + " bytes of " + operand_text(function, fill.to);
}

}  // namespace ferry
