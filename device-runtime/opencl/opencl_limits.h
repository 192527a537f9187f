// The limits that an OpenCL device sets for a launch, known once the kernel has been compiled for it.
#pragma once

#include "device-runtime/opencl/opencl_device.h"

namespace ferry::device {

// Returns the shared memory of a block as the driver reports it: what the kernel declares and what the driver adds.
std::uint64_t shared_memory_of(const OpenClDevice& device, cl_kernel kernel);

// Fails with unsupported, with both numbers, if a launch has more threads per block, more local memory or a larger grid
// than the device supports.
Status check_launch_limits(const OpenClDevice& device, const FunctionInfo& function, const BoundLaunch& launch,
                           cl_kernel kernel);

}  // namespace ferry::device
