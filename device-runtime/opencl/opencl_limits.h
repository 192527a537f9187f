// What an OpenCL device takes of a launch, known once the kernel is compiled for it.
#pragma once

#include "device-runtime/device/plan_call.h"
#include "device-runtime/opencl/opencl_device.h"

namespace ferry::device {

// unsupported, with both numbers, for more threads a block, more local memory or a larger grid than the device takes.
Status check_launch_limits(const OpenClDevice& device, const FunctionInfo& function, const BoundLaunch& launch,
                           cl_kernel kernel);

}  // namespace ferry::device
