// Keeps the last call of each function of a module bound, so that a call with the same arguments and sizes binds
// nothing.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device-runtime/plan/plan_call.h"

namespace ferry::device {

class KeptCalls {
 public:
  // Returns null if the function's last call was another.
  PlanCall* find(std::size_t function, std::span<const DeviceArgument> arguments,
                 std::span<const std::int64_t> symbols) const;
  // Keeps the call if it may be kept.
  void keep(std::size_t function, std::span<const DeviceArgument> arguments, std::span<const std::int64_t> symbols,
            std::unique_ptr<PlanCall> call);

 private:
  struct Kept {
    std::vector<DeviceArgument> arguments;
    std::vector<std::int64_t> symbols;
    std::unique_ptr<PlanCall> call;
  };

  std::vector<Kept> kept_;  // by the function's index in the manifest
};

}  // namespace ferry::device
