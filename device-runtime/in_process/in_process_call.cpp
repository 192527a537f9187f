#include <algorithm>
#include <utility>
#include <variant>

#include "base/format.h"
#include "device-runtime/handlers/kernel_running.h"
#include "device-runtime/in_process/in_process_session.h"

namespace ferry::device {
namespace {

constexpr std::uint32_t kTensorAlignment = 64;

}  // namespace

InProcessCall::InProcessCall(const FunctionInfo& function, std::unique_ptr<PlanCall> call,
                             std::span<const InProcessArgument> arguments, std::vector<std::uint64_t> bytes,
                             bool is_aligned)
    : function_(function),
      call_(std::move(call)),
      bytes_(std::move(bytes)),
      is_aligned_(is_aligned),
      places_(function.parameters.size()) {
  for (const InProcessArgument& argument : arguments)
    addresses_.push_back(reinterpret_cast<std::uintptr_t>(argument.memory));
}

void InProcessCall::find_places(const Plan& plan, std::span<const std::int64_t> values) {
  is_movable_ = call_->has_all_steps(plan);
  if (!is_movable_) return;
  const auto add = [&](std::size_t step, std::size_t position, const Operand& operand) {
    if (operand.kind != OperandKind::argument && operand.kind != OperandKind::scalar) return;
    const bool is_at_begin = operand.kind == OperandKind::scalar || operand.offset == kNoValue;
    places_[operand.index].push_back(
        {step, position, is_at_begin ? 0 : static_cast<std::uint64_t>(values[operand.offset])});
  };
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (const auto* call = std::get_if<CallStep>(&plan.steps[i])) {
      for (std::size_t k = 0; k < call->operands.size(); ++k) add(i, k, call->operands[k]);
    } else if (const auto* copy = std::get_if<CopyStep>(&plan.steps[i])) {
      add(i, 0, copy->to);
      add(i, 1, copy->from);
    } else if (const auto* fill = std::get_if<FillStep>(&plan.steps[i])) {
      add(i, 0, fill->to);
    } else {
      is_movable_ = false;
    }
  }
}

void InProcessCall::set(std::size_t parameter, std::uint64_t to) {
  for (const Place& place : places_[parameter]) call_->set(place.step, place.operand, to + place.offset);
}

void InProcessCall::set_memory(std::size_t parameter, void* memory) {
  addresses_[parameter] = reinterpret_cast<std::uintptr_t>(memory);
  set(parameter, addresses_[parameter]);
}

Status InProcessCall::check() const {
  const auto number = [](std::size_t i) { return static_cast<unsigned>(i + 1); };
  const auto is_read = [&](std::size_t i) { return function_.parameters[i].direction == Direction::in; };
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    if (is_aligned_ && addresses_[i] % kTensorAlignment != 0) {
      return {
          ErrorCode::invalid_argument,
          format("%s: argument %u '%s': expected memory at a multiple of %u bytes, as the module was compiled for "
                 "another device",
                 function_.name.c_str(), number(i), function_.parameters[i].name.c_str(), unsigned{kTensorAlignment})};
    }
    for (std::size_t j = i + 1; j < addresses_.size(); ++j) {
      const std::uintptr_t end = std::min(addresses_[i] + bytes_[i], addresses_[j] + bytes_[j]);
      if (std::max(addresses_[i], addresses_[j]) >= end || (is_read(i) && is_read(j))) continue;
      return {ErrorCode::invalid_argument,
              format("%s: arguments %u '%s' and %u '%s' overlap, and the function writes one of them",
                     function_.name.c_str(), number(i), function_.parameters[i].name.c_str(), number(j),
                     function_.parameters[j].name.c_str())};
    }
  }
  return {};
}

Status InProcessCall::run() {
  const std::int32_t result = call_->run();
  if (result == 0) [[likely]]
    return {};
  FERRY_TRY(call_->failure());
  return result_status(function_, result);
}

}  // namespace ferry::device
