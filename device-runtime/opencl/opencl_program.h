// A module's OpenCL C, compiled by the device's own compiler, and its plans.
#pragma once

#include <memory>

#include "device-runtime/opencl/opencl_device.h"

namespace ferry::device {

// unsupported when the module has no OpenCL C; invalid_argument with the compiler's words when it does not compile.
Result<std::unique_ptr<Program>> load_opencl_program(const ModuleFile& module, OpenClDevice& device);

}  // namespace ferry::device
