#include "device-runtime/plan/kept_call.h"

#include <algorithm>

namespace ferry::device {
namespace {

// More than a stream holds for a step and for each of its operands.
constexpr std::uint64_t kStepBytes = 256;
constexpr std::uint64_t kOperandBytes = 128;
constexpr std::uint64_t kLoopValueBytes = 16;

}  // namespace

std::uint64_t KeptCall::most_bytes(const FunctionInfo& function) {
  std::uint64_t bytes = sizeof(PlanCall) + function.parameters.size() * sizeof(DeviceArgument) +
                        (function.symbols.size() + function.plan.values.size()) * sizeof(std::int64_t) +
                        function.plan.steps.size() * kStepBytes;
  for (const Step& step : function.plan.steps) {
    for_each_operand(step, [&](const Operand&) { bytes += kOperandBytes; });
    if (const auto* repeat = std::get_if<RepeatStep>(&step)) bytes += repeat->values.size() * kLoopValueBytes;
  }
  return bytes;
}

std::unique_ptr<PlanCall> KeptCall::take(std::span<const DeviceArgument> arguments,
                                         std::span<const std::int64_t> symbols) {
  const bool is_same = std::equal(arguments.begin(), arguments.end(), arguments_.begin(), arguments_.end()) &&
                       std::equal(symbols.begin(), symbols.end(), symbols_.begin(), symbols_.end());
  return is_same ? std::move(call_) : nullptr;
}

void KeptCall::keep(std::span<const DeviceArgument> arguments, std::span<const std::int64_t> symbols,
                    std::unique_ptr<PlanCall> call) {
  if (!call->may_be_kept()) return;
  arguments_.assign(arguments.begin(), arguments.end());
  symbols_.assign(symbols.begin(), symbols.end());
  call_ = std::move(call);
}

}  // namespace ferry::device
