// Changes what a step of a plan refers to, when it becomes a step of another plan.
#pragma once

#include "module/plan.h"

#include <cstdint>
#include <variant>

namespace ferry {

// Calls change(operand) for each operand of a step.
template <class Change>
void change_operands(Step& step, Change change) {
  if (auto* call = std::get_if<CallStep>(&step)) {
    for (Operand& operand : call->operands) change(operand);
  } else if (auto* launch = std::get_if<LaunchStep>(&step)) {
    for (Operand& operand : launch->operands) change(operand);
  } else if (auto* copy = std::get_if<CopyStep>(&step)) {
    change(copy->to);
    change(copy->from);
  } else if (auto* fill = std::get_if<FillStep>(&step)) {
    change(fill->to);
  } else if (auto* repeat = std::get_if<RepeatStep>(&step); repeat != nullptr && repeat->condition) {
    change(*repeat->condition);
  }
}

// Calls change(index) for each symbol or value that a step refers to; kNoValue is among them.
template <class Visit>
void change_values(Step& step, Visit change) {
  change_operands(step, [&](Operand& operand) {
    change(operand.offset);
    if (operand.kind == OperandKind::value) change(operand.index);
  });
  if (auto* call = std::get_if<CallStep>(&step)) {
    change(call->workspace.offset);
    change(call->thread_workspace);
  } else if (auto* launch = std::get_if<LaunchStep>(&step)) {
    for (ValueIndex& extent : launch->grid) change(extent);
    for (ValueIndex& extent : launch->block) change(extent);
    change(launch->shared_bytes);
    change(launch->result.offset);
  } else if (auto* copy = std::get_if<CopyStep>(&step)) {
    change(copy->bytes);
  } else if (auto* fill = std::get_if<FillStep>(&step)) {
    change(fill->bytes);
  } else if (auto* repeat = std::get_if<RepeatStep>(&step)) {
    change(repeat->count);
    for (LoopValue& loop : repeat->values) {
      change(loop.value);
      change(loop.stride);
    }
  }
}

// Adds `offset` to the number of the step's first message.
inline void move_messages(Step& step, std::uint32_t offset) {
  if (auto* call = std::get_if<CallStep>(&step)) call->first_message += offset;
  if (auto* launch = std::get_if<LaunchStep>(&step)) launch->first_message += offset;
}

}  // namespace ferry
