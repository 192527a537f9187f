// Tensors of calls beside those that are timed: of witnesses, and of checks between them.
#pragma once

#include <cstdint>
#include <vector>

#include "ferry/client.h"
#include "host/kernel/call_plan.h"
#include "host/verify/kernel_outputs.h"

namespace ferry::bench {

// All such calls of a measurement take at most this part of the device's memory, and so many bytes of their tensors
// cross the network.
inline constexpr std::uint64_t kMemoryShare = 16, kMostMoved = 16 << 20;

// Returns the tensor of an argument; null for a number.
const DeviceTensor* tensor_of(const Argument& argument);
// Returns how many bytes all tensors of a call take; 0 if one of them has strides.
std::uint64_t dense_bytes(const std::vector<Argument>& arguments);
// Reads what a call has written, as verify::Outputs.
verify::Outputs read_outputs(const FunctionInfo& info, const std::vector<Argument>& arguments);
std::vector<std::uint8_t> read_contents(const DeviceTensor& tensor);

}  // namespace ferry::bench
