// Keeps the last call of a function bound, with its workspaces, so that a call with the same arguments and sizes binds
// and allocates nothing. The workspaces stay charged to the session, which drops kept calls when it lacks memory.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "device-runtime/plan/plan_call.h"

namespace ferry::device {

class KeptCall {
 public:
  // Returns an upper bound of the memory that a call of this function takes while it is kept, besides its workspaces.
  static std::uint64_t most_bytes(const FunctionInfo& function);

  // Takes the call out, to run it; null if the last call was another.
  std::unique_ptr<PlanCall> take(std::span<const DeviceArgument> arguments, std::span<const std::int64_t> symbols);
  // Keeps the call if it may be kept.
  void keep(std::span<const DeviceArgument> arguments, std::span<const std::int64_t> symbols,
            std::unique_ptr<PlanCall> call);
  void drop() { call_.reset(); }

 private:
  std::vector<DeviceArgument> arguments_;
  std::vector<std::int64_t> symbols_;
  std::unique_ptr<PlanCall> call_;
};

}  // namespace ferry::device
