// What a device can do at best, measured there by kernels of our own: the yardstick for a share of the peak.
#pragma once

#include <functional>

#include "crosscompile/target/target.h"
#include "host/session/ferry.h"

namespace ferry::cli {

struct Peak {
  double flops = 0;  // a second, of fused multiply-adds in the given type
  double bytes = 0;  // a second, of a copy as large as the kernel's own traffic, read and written counted
};

// Measures the yardsticks of one kernel, each time again: a machine's speed changes, so they are measured before and
// after the kernel's samples. dtype: f32 or f64. traffic_bytes: of one call of the kernel. Threads and cores are those
// of `bench`.
std::function<Peak()> peak_meter(const Device& device, const Target& target, DType dtype, std::uint64_t traffic_bytes,
                                 const BenchOptions& bench);
// The better of two measurements.
Peak better(const Peak& a, const Peak& b);

}  // namespace ferry::cli
