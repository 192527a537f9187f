// Places a call's tensors at random addresses: where data lies changes times, and a process has only one layout.
#pragma once

#include <vector>

#include "ferry/bench/comparison.h"
#include "host/kernel/call_plan.h"
#include "host/stats/random.h"

namespace ferry::bench {

inline constexpr std::uint64_t kPage = 4096;

// Offsets keep tensors aligned as the CPU or the GPU requires.
MemoryLayout draw_memory_layout(stats::Random& random, bool on_gpu);

// Allocates what the layout has before everything else; the result keeps it.
DeviceTensor allocate_before(const Device& device, const MemoryLayout& layout);

// Returns all tensors of a call at their places, including outputs. Throws UsageError if an output is not dense.
std::vector<Argument> arguments_at(const FunctionInfo& info, const CallPlan& plan, const Device& device,
                                   const MemoryLayout& layout, const Observer& observer);

}  // namespace ferry::bench
