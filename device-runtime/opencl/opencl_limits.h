// What an OpenCL device takes of a launch, known once the kernel is compiled for it.
#pragma once

#include "device-runtime/device/plan_call.h"
#include "device-runtime/opencl/opencl_device.h"

namespace ferry::device {

// That a block has, as far as the driver tells: what the kernel declares itself and what the driver adds.
std::uint64_t shared_memory_of(const OpenClDevice& device, cl_kernel kernel);

// unsupported, with both numbers, for more threads a block, more local memory or a larger grid than the device takes.
Status check_launch_limits(const OpenClDevice& device, const FunctionInfo& function, const BoundLaunch& launch,
                           cl_kernel kernel);

}  // namespace ferry::device
