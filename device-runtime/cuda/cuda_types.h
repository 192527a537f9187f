// The types and constants of the CUDA driver API that the device uses, so that building needs no CUDA Toolkit. They
// equal those of cuda.h since CUDA 11 (NVIDIA, "CUDA Driver API"), and the driver's ABI keeps them stable.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ferry::device {

using CuResult = int;
using CuDevice = int;
using CuDevicePointer = unsigned long long;
using CuContext = struct CuContextOpaque*;
using CuModule = struct CuModuleOpaque*;
using CuFunction = struct CuFunctionOpaque*;
using CuStream = struct CuStreamOpaque*;
using CuEvent = struct CuEventOpaque*;

inline constexpr CuResult kCuSuccess = 0, kCuInvalidValue = 1, kCuOutOfMemory = 2, kCuNoDevice = 100,
                          kCuInvalidImage = 200, kCuNoBinaryForGpu = 209, kCuInvalidPtx = 218,
                          kCuUnsupportedPtxVersion = 222, kCuInvalidSource = 300, kCuNotFound = 500,
                          kCuIllegalAddress = 700, kCuLaunchOutOfResources = 701, kCuLaunchTimeout = 702,
                          kCuAssert = 710, kCuHardwareStackError = 714, kCuIllegalInstruction = 715,
                          kCuMisalignedAddress = 716, kCuInvalidAddressSpace = 717, kCuInvalidPc = 718,
                          kCuLaunchFailed = 719;

// CUdevice_attribute
inline constexpr int kCuMaxThreadsPerBlock = 1, kCuMaxBlockDimX = 2, kCuMaxGridDimX = 5, kCuWarpSize = 10,
                     kCuMaxRegistersPerBlock = 12, kCuClockRateKhz = 13, kCuMultiprocessorCount = 16,
                     kCuMemoryClockRateKhz = 36, kCuMemoryBusBits = 37, kCuL2CacheSize = 38,
                     kCuMaxThreadsPerMultiprocessor = 39, kCuComputeCapabilityMajor = 75,
                     kCuComputeCapabilityMinor = 76, kCuMaxSharedMemoryPerMultiprocessor = 81,
                     kCuMaxRegistersPerMultiprocessor = 82, kCuMaxSharedMemoryPerBlockOptin = 97;
// CUfunction_attribute
inline constexpr int kCuFuncMaxThreadsPerBlock = 0, kCuFuncSharedSizeBytes = 1, kCuFuncNumRegs = 4,
                     kCuFuncMaxDynamicSharedSizeBytes = 8;
// CUjit_option
inline constexpr int kCuJitErrorLogBuffer = 5, kCuJitErrorLogBufferSizeBytes = 6;
inline constexpr unsigned kCuStreamNonBlocking = 1, kCuEventDefault = 0, kCuEventDisableTiming = 2;

// CUlaunchAttribute and CUlaunchConfig, available since CUDA 11.8.
inline constexpr int kCuLaunchAttributeClusterDimension = 4;
struct CuLaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};
struct CuLaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  CuStream stream;
  CuLaunchAttribute* attributes;
  unsigned attribute_count;
};

}  // namespace ferry::device
