// What a device can do at best, measured there by kernels of our own: the yardstick for a share of the peak.
#pragma once

#include "host/session/ferry.h"

namespace ferry::cli {

struct Peak {
  double flops = 0;  // a second, of fused multiply-adds in the given type on all threads
  double bytes = 0;  // a second, of a copy as large as the kernel's own traffic, read and written counted
};

// dtype: f32 or f64. traffic_bytes: of one call of the kernel that will be compared.
Peak measure_peak(const Device& device, const Target& target, DType dtype, std::uint64_t traffic_bytes);

}  // namespace ferry::cli
