// Measures the peak performance of a device with kernels of our own, as the reference for a kernel's share of the peak.
#pragma once

#include <functional>

#include "ferry/bench/measurement.h"
#include "ferry/client.h"
#include "ferry/target/target.h"
#include "host/compiler/api/compiler.h"

namespace ferry::bench {

// Returns a function that measures the peaks for one kernel anew at each call: a machine's speed changes, so they are
// measured before and after the kernel's samples. dtype is f32 or f64. traffic_bytes is that of one call of the kernel.
// Threads and cores are those of `bench`.
std::function<Peak()> peak_meter(const Device& device, const Compiler& compiler, const Target& target, DType dtype,
                                 std::uint64_t traffic_bytes, const BenchOptions& bench);
// Returns a function that measures the rate of a copy alone, in bytes read and written a second.
std::function<double()> copy_meter(const Device& device, const Compiler& compiler, const Target& target,
                                   std::uint64_t traffic_bytes, const BenchOptions& bench);
// Returns the better of two measurements.
Peak better(const Peak& a, const Peak& b);

}  // namespace ferry::bench
