#include "device-runtime/plan/kept_calls.h"

#include <algorithm>

namespace ferry::device {

PlanCall* KeptCalls::find(std::size_t function, std::span<const DeviceArgument> arguments,
                          std::span<const std::int64_t> symbols) const {
  if (function >= kept_.size()) return nullptr;
  const Kept& kept = kept_[function];
  const bool is_same = std::equal(arguments.begin(), arguments.end(), kept.arguments.begin(), kept.arguments.end()) &&
                       std::equal(symbols.begin(), symbols.end(), kept.symbols.begin(), kept.symbols.end());
  return is_same ? kept.call.get() : nullptr;
}

void KeptCalls::keep(std::size_t function, std::span<const DeviceArgument> arguments,
                     std::span<const std::int64_t> symbols, std::unique_ptr<PlanCall> call) {
  if (!call->may_be_kept()) return;
  if (function >= kept_.size()) kept_.resize(function + 1);
  Kept& kept = kept_[function];
  kept.arguments.assign(arguments.begin(), arguments.end());
  kept.symbols.assign(symbols.begin(), symbols.end());
  kept.call = std::move(call);
}

}  // namespace ferry::device
