// The drivers that the dynamic rpc_server loads, and those of tests/support/fake_cuda.
#pragma once

#include <dlfcn.h>

#include <string>

#include "device-runtime/device/drivers.h"
#include "tests/paths.h"

namespace ferry::test {

inline constexpr device::Drivers kDrivers = {[](const char* file) { return dlopen(file, RTLD_NOW | RTLD_LOCAL); },
                                             dlsym};

#if defined(FERRY_BINARY_DIR)
inline constexpr const char* kFakeDriversFolder = FERRY_BINARY_DIR "/fake_cuda";
inline constexpr device::Drivers kFakeDrivers = {[](const char* file) {
                                                   return dlopen((std::string(kFakeDriversFolder) + "/" + file).c_str(),
                                                                 RTLD_NOW | RTLD_LOCAL);
                                                 },
                                                 dlsym};
#endif

}  // namespace ferry::test
