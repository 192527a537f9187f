// Keeps the last call of a function bound, so that a call with the same arguments and sizes binds nothing.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device-runtime/plan/plan_call.h"

namespace ferry::device {

class KeptCall {
 public:
  // Returns an upper bound of the memory that a call of this function takes while it is kept.
  static std::uint64_t most_bytes(const FunctionInfo& function);

  // Returns null if the last call was another.
  PlanCall* find(std::span<const DeviceArgument> arguments, std::span<const std::int64_t> symbols) const;
  // Keeps the call if it may be kept.
  void keep(std::span<const DeviceArgument> arguments, std::span<const std::int64_t> symbols,
            std::unique_ptr<PlanCall> call);

 private:
  std::vector<DeviceArgument> arguments_;
  std::vector<std::int64_t> symbols_;
  std::unique_ptr<PlanCall> call_;
};

}  // namespace ferry::device
