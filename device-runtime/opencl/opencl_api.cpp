#include "device-runtime/opencl/opencl_api.h"

#include "base/format.h"

namespace ferry::device {
namespace {

struct NamedError {
  cl_int number;
  const char* name;
};

#define FERRY_OPENCL_ERROR(name) {name, #name}
constexpr NamedError kErrors[] = {
    FERRY_OPENCL_ERROR(CL_DEVICE_NOT_FOUND),        FERRY_OPENCL_ERROR(CL_DEVICE_NOT_AVAILABLE),
    FERRY_OPENCL_ERROR(CL_COMPILER_NOT_AVAILABLE),  FERRY_OPENCL_ERROR(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    FERRY_OPENCL_ERROR(CL_OUT_OF_RESOURCES),        FERRY_OPENCL_ERROR(CL_OUT_OF_HOST_MEMORY),
    FERRY_OPENCL_ERROR(CL_BUILD_PROGRAM_FAILURE),   FERRY_OPENCL_ERROR(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    FERRY_OPENCL_ERROR(CL_INVALID_VALUE),           FERRY_OPENCL_ERROR(CL_INVALID_BUFFER_SIZE),
    FERRY_OPENCL_ERROR(CL_INVALID_KERNEL_NAME),     FERRY_OPENCL_ERROR(CL_INVALID_KERNEL_ARGS),
    FERRY_OPENCL_ERROR(CL_INVALID_ARG_INDEX),       FERRY_OPENCL_ERROR(CL_INVALID_ARG_SIZE),
    FERRY_OPENCL_ERROR(CL_INVALID_WORK_GROUP_SIZE), FERRY_OPENCL_ERROR(CL_INVALID_WORK_ITEM_SIZE),
};
#undef FERRY_OPENCL_ERROR

constexpr const char* kLibraries[] = {"libOpenCL.so.1", "libOpenCL.so"};

}  // namespace

Result<OpenClApi> load_opencl(const Drivers& drivers) {
  OpenClApi api;
  void* library = nullptr;
  for (const char* name : kLibraries) {
    if (library == nullptr) library = drivers.open(name);
  }
  if (library == nullptr)
    return Status(ErrorCode::unsupported,
                  "this machine has no OpenCL: there is no libOpenCL.so.1; install the driver of its GPU");
#define FERRY_OPENCL_LOAD(name)                                                   \
  api.name = reinterpret_cast<decltype(&::name)>(drivers.symbol(library, #name)); \
  if (api.name == nullptr)                                                        \
    return Status(ErrorCode::unsupported,                                         \
                  "this machine's OpenCL is older than 1.2: it has no " #name "; update its driver");
  FERRY_OPENCL_FUNCTIONS(FERRY_OPENCL_LOAD)
#undef FERRY_OPENCL_LOAD
  return api;
}

Status opencl_failure(const char* function, cl_int error) {
  const bool memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
                      error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE;
  const char* name = "an error";
  for (const NamedError& known : kErrors) {
    if (known.number == error) name = known.name;
  }
  return {memory ? ErrorCode::resource_exhausted : ErrorCode::device_error,
          format("OpenCL: %s: %s (%d)", function, name, error)};
}

}  // namespace ferry::device
