// The functions of the CUDA driver that the device calls, taken from the system's libcuda.so.1.
#pragma once

#include "base/status.h"
#include "device-runtime/cuda/cuda_types.h"
#include "device-runtime/device/drivers.h"

namespace ferry::device {

// Name in the code, name in the library, parameters.
#define FERRY_CUDA_FUNCTIONS(X)                                                                        \
  X(init, "cuInit", (unsigned))                                                                        \
  X(driver_version, "cuDriverGetVersion", (int*))                                                      \
  X(error_name, "cuGetErrorName", (CuResult, const char**))                                            \
  X(device_count, "cuDeviceGetCount", (int*))                                                          \
  X(device_get, "cuDeviceGet", (CuDevice*, int))                                                       \
  X(device_name, "cuDeviceGetName", (char*, int, CuDevice))                                            \
  X(device_memory, "cuDeviceTotalMem_v2", (std::size_t*, CuDevice))                                    \
  X(device_attribute, "cuDeviceGetAttribute", (int*, int, CuDevice))                                   \
  X(device_bus_id, "cuDeviceGetPCIBusId", (char*, int, CuDevice))                                      \
  X(context_retain, "cuDevicePrimaryCtxRetain", (CuContext*, CuDevice))                                \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (CuDevice))                                       \
  X(context_use, "cuCtxSetCurrent", (CuContext))                                                       \
  X(memory_info, "cuMemGetInfo_v2", (std::size_t*, std::size_t*))                                      \
  X(memory_take, "cuMemAlloc_v2", (CuDevicePointer*, std::size_t))                                     \
  X(memory_free, "cuMemFree_v2", (CuDevicePointer))                                                    \
  X(pinned_take, "cuMemHostAlloc", (void**, std::size_t, unsigned))                                    \
  X(pinned_free, "cuMemFreeHost", (void*))                                                             \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2", (CuDevicePointer, const void*, std::size_t, CuStream))     \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2", (void*, CuDevicePointer, std::size_t, CuStream))             \
  X(copy_on_device, "cuMemcpyDtoDAsync_v2", (CuDevicePointer, CuDevicePointer, std::size_t, CuStream)) \
  X(set_bytes, "cuMemsetD8Async", (CuDevicePointer, unsigned char, std::size_t, CuStream))             \
  X(set_words, "cuMemsetD32Async", (CuDevicePointer, unsigned, std::size_t, CuStream))                 \
  X(set_halves, "cuMemsetD16Async", (CuDevicePointer, unsigned short, std::size_t, CuStream))          \
  X(pinned_address, "cuMemHostGetDevicePointer_v2", (CuDevicePointer*, void*, unsigned))               \
  X(stream_create, "cuStreamCreate", (CuStream*, unsigned))                                            \
  X(stream_destroy, "cuStreamDestroy_v2", (CuStream))                                                  \
  X(stream_wait, "cuStreamSynchronize", (CuStream))                                                    \
  X(event_create, "cuEventCreate", (CuEvent*, unsigned))                                               \
  X(event_destroy, "cuEventDestroy_v2", (CuEvent))                                                     \
  X(event_record, "cuEventRecord", (CuEvent, CuStream))                                                \
  X(event_wait, "cuEventSynchronize", (CuEvent))                                                       \
  X(event_elapsed, "cuEventElapsedTime", (float*, CuEvent, CuEvent))                                   \
  X(module_load, "cuModuleLoadDataEx", (CuModule*, const void*, unsigned, int*, void**))               \
  X(module_unload, "cuModuleUnload", (CuModule))                                                       \
  X(module_function, "cuModuleGetFunction", (CuFunction*, CuModule, const char*))                      \
  X(function_attribute, "cuFuncGetAttribute", (int*, int, CuFunction))                                 \
  X(set_function_attribute, "cuFuncSetAttribute", (CuFunction, int, int))                              \
  X(launch, "cuLaunchKernel",                                                                          \
    (CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CuStream, void**, void**))

// Null with drivers before CUDA 11.8, which lack these functions.
#define FERRY_CUDA_NEWER_FUNCTIONS(X) \
  X(launch_ex, "cuLaunchKernelEx", (const CuLaunchConfig*, CuFunction, void**, void**))

struct CudaApi {
#define FERRY_CUDA_POINTER(name, symbol, parameters) CuResult(*name) parameters = nullptr;
  FERRY_CUDA_FUNCTIONS(FERRY_CUDA_POINTER)
  FERRY_CUDA_NEWER_FUNCTIONS(FERRY_CUDA_POINTER)
#undef FERRY_CUDA_POINTER
  int version = 0;  // highest CUDA version that the driver supports: 12040 for CUDA 12.4
};

// Loads and initialises the driver. Fails with unsupported if there is no driver, or if it is older than CUDA 11 or
// finds no GPU.
Result<CudaApi> load_cuda(const Drivers& drivers);

// Returns the name and number of an error: "CUDA_ERROR_ILLEGAL_ADDRESS (700)".
std::string cuda_error_text(const CudaApi& api, CuResult error);
// Returns "CUDA: cuMemAlloc: CUDA_ERROR_... (1)" as a device_error, or as resource_exhausted if memory is exhausted.
Status cuda_failure(const CudaApi& api, const char* function, CuResult error);

// Returns whether a kernel caused the error, after which no CUDA function works in this process any more.
bool is_kernel_crash(CuResult error);

}  // namespace ferry::device
