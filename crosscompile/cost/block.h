// Counts the instructions of an iteration of a loop, without the loops inside it, and says how long they take.
#pragma once

#include "crosscompile/cost/core.h"
#include "crosscompile/cost/nest.h"

#include <array>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace ferry::cost {

// Describes the buffers of a function.
struct BufferUses {
  // Local arrays of which every index is a constant once loops are unrolled: they stay in registers.
  std::unordered_set<const ir::Buffer*> in_registers;
  // The buffers that are stored to in each loop.
  std::unordered_map<const LoopNest*, std::unordered_set<const ir::Buffer*>> stored;
};
BufferUses uses_of(const FunctionNest& nest);

struct Block {
  // In an iteration; instructions that are invariant in a loop count in a part of the iterations only.
  std::array<double, kInstructions> counts = {};
  double instructions = 0;
  double cycles = 0;   // by the units' throughput, and by that of the front
  double chain = 0;    // cycles in which an iteration waits for the results of the one before
  double depth = 0;    // cycles in which steps of an iteration wait for each other
  double latency = 0;  // cycles in which lanes are combined to scalars, and the rest waits
  double registers = 0;
};

// `path` are the serial loops around and with the nest, the outermost first.
Block block_of(const FunctionNest& function, std::span<const LoopNest* const> path, const BufferUses& uses,
               const Target& target, const Core& core);

}  // namespace ferry::cost
