// Adds the steps of a plan to a stream, with every expression evaluated and every operand an address or a number.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
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
  std::span<const MemoryBlock> constants;  // the module's; those that the plan does not read may be missing
};

// An operand of a step that depends on a loop value: it is `base` plus that value.
struct LoopOperand {
  std::size_t step = 0, operand = 0;
  std::uint64_t base = 0;
  ValueIndex value = 0;
};

// Steps of the stream that run repeatedly, and the ranges of what belongs to them in the lists of BoundSteps, in which
// a nested repeat stands after the one around it.
struct BoundRepeat {
  std::size_t begin = 0, end = 0;
  std::int64_t count = 0;                                     // at least 1
  std::vector<std::pair<ValueIndex, std::uint64_t>> strides;  // those of loop values
  MemoryBlock condition;                                      // without memory: none
  std::size_t last_inner = 0;                                 // the end of the nested repeats
  std::size_t first_operand = 0, last_operand = 0;
  std::size_t first_result = 0, last_result = 0;
};

struct BoundSteps {
  std::vector<std::uint32_t> first_messages;  // one for each step of the stream
  std::vector<ResultPlace> results;           // in the order of their steps
  std::vector<BoundRepeat> repeats;           // in the order of their first steps
  std::vector<LoopOperand> operands;          // in the order of their steps
  std::vector<std::uint64_t> values;  // if there are repeats: the values of the plan, before the first iteration
};

// Returns the values of a plan: those of the symbols, then its own.
Result<std::vector<std::int64_t>> evaluate_values(const FunctionInfo& function, const Plan& plan,
                                                  std::span<const std::int64_t> symbols);
// Returns the sizes of the plan's workspaces or of persistent buffers.
Result<std::uint64_t> size_of(const FunctionInfo& function, std::span<const std::int64_t> values, ValueIndex bytes);

// Omits launches with an empty grid, and what no iteration of a repeat runs. All iterations are checked: offsets are
// linear in the number of the iteration, so their first and last values are their least and greatest.
Result<BoundSteps> bind_plan(const FunctionInfo& function, const Plan& plan, std::span<const std::int64_t> values,
                             const PlanMemory& memory, Stream& stream);

}  // namespace ferry::device
