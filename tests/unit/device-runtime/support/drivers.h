// Drivers as the dynamic rpc_server loads them.
#pragma once

#include <dlfcn.h>

#include "device-runtime/device/drivers.h"

namespace ferry::test {

inline constexpr device::Drivers kDrivers = {[](const char* file) { return dlopen(file, RTLD_NOW | RTLD_LOCAL); },
                                             dlsym};

}  // namespace ferry::test
