// Adds the steps of a plan to a stream, with every expression evaluated and every operand an address or a number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device-runtime/device/device.h"

namespace ferry::device {

// One argument as a kernel receives it: memory of the device, or a scalar's bits.
struct DeviceArgument {
  bool is_scalar = false;
  void* memory = nullptr;
  std::uint64_t scalar_bits = 0;  // little-endian, in the low bytes
  bool operator==(const DeviceArgument&) const = default;
};

struct MemoryBlock {
  void* memory = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t device = 0;  // its index in the module
};

// The memory that a plan's operands refer to. The arguments have been checked against the manifest.
struct PlanMemory {
  std::span<const DeviceArgument> arguments;
  std::span<const std::uint64_t> argument_bytes;  // one for each argument; 0 for scalars
  std::span<const MemoryBlock> workspaces;
  std::span<const MemoryBlock> persistent;
  std::span<const MemoryBlock> constants;  // of the module; those that the plan does not read may be missing
};

struct BoundSteps {
  std::vector<std::uint32_t> first_messages;  // one for each step of the stream
  std::vector<ResultPlace> results;           // in the order of their steps
};

// Returns the values of a plan: those of the symbols, then its own.
Result<std::vector<std::int64_t>> evaluate_values(const FunctionInfo& function, const Plan& plan,
                                                  std::span<const std::int64_t> symbols);
// Returns the sizes of the plan's workspaces or of persistent buffers.
Result<std::uint64_t> size_of(const FunctionInfo& function, std::span<const std::int64_t> values, ValueIndex bytes);

// Omits launches with an empty grid.
Result<BoundSteps> bind_plan(const FunctionInfo& function, const Plan& plan, std::span<const std::int64_t> values,
                             const PlanMemory& memory, Stream& stream);

}  // namespace ferry::device
