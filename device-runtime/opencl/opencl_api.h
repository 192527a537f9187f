// The functions of OpenCL 1.2 that the device calls, taken from the system's libOpenCL.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

#include "base/status.h"
#include "device-runtime/device/drivers.h"

namespace ferry::device {

#define FERRY_OPENCL_FUNCTIONS(X) \
  X(clGetPlatformIDs)             \
  X(clGetPlatformInfo)            \
  X(clGetDeviceIDs)               \
  X(clGetDeviceInfo)              \
  X(clCreateContext)              \
  X(clReleaseContext)             \
  X(clCreateCommandQueue)         \
  X(clReleaseCommandQueue)        \
  X(clCreateBuffer)               \
  X(clCreateSubBuffer)            \
  X(clReleaseMemObject)           \
  X(clEnqueueReadBuffer)          \
  X(clEnqueueWriteBuffer)         \
  X(clEnqueueCopyBuffer)          \
  X(clEnqueueFillBuffer)          \
  X(clCreateProgramWithSource)    \
  X(clBuildProgram)               \
  X(clGetProgramBuildInfo)        \
  X(clReleaseProgram)             \
  X(clCreateKernel)               \
  X(clGetKernelWorkGroupInfo)     \
  X(clSetKernelArg)               \
  X(clReleaseKernel)              \
  X(clEnqueueNDRangeKernel)       \
  X(clFinish)                     \
  X(clGetEventProfilingInfo)      \
  X(clReleaseEvent)

struct OpenClApi {
#define FERRY_OPENCL_POINTER(name) decltype(&::name) name = nullptr;
  FERRY_OPENCL_FUNCTIONS(FERRY_OPENCL_POINTER)
#undef FERRY_OPENCL_POINTER
};

// Fails with unsupported if the system has no OpenCL or this program cannot load it.
Result<OpenClApi> load_opencl(const Drivers& drivers);

// Returns "clBuildProgram: CL_OUT_OF_HOST_MEMORY (-6)" as a device_error, or as resource_exhausted if memory is
// exhausted.
Status opencl_failure(const char* function, cl_int error);

}  // namespace ferry::device
