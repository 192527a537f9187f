// The launches of one call of a plan (module/plan.h), with every expression evaluated.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device-runtime/device/device.h"

namespace ferry::device {

// An operand of a kernel: an address in the device's memory, or the bytes of a number.
struct BoundOperand {
  bool is_memory = false;
  void* memory = nullptr;
  std::uint64_t bits = 0;
  std::size_t bytes = 0;  // size of the number
};

struct BoundLaunch {
  std::string kernel;
  std::array<std::uint64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t shared_bytes = 0;
  std::vector<BoundOperand> operands;
};

// Returns where the plan stores the call's result, an int32 (module/MODULE.md); null if it cannot fail.
void* result_place(const FunctionInfo& function, void* workspace);

// Omits launches with an empty grid. `workspace` is that of the call, or null.
Result<std::vector<BoundLaunch>> bind_plan(const FunctionInfo& function, std::span<const DeviceArgument> arguments,
                                           const BoundCall& bound, void* workspace);

}  // namespace ferry::device
