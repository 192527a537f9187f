// Compiles a module's OpenCL C with the device's own compiler.
#pragma once

#include <memory>

#include "device-runtime/opencl/opencl_device.h"

namespace ferry::device {

// Fails with unsupported if the module has no OpenCL C, and with invalid_argument and the compiler's message if it does
// not compile.
Result<std::unique_ptr<Program>> load_opencl_program(const ModuleFile& module, OpenClDevice& device);

}  // namespace ferry::device
