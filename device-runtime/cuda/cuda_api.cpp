#include "device-runtime/cuda/cuda_api.h"

#include "base/format.h"

namespace ferry::device {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
constexpr int kOldest = 11000;

Status unsupported(std::string message) { return {ErrorCode::unsupported, std::move(message)}; }

}  // namespace

Result<CudaApi> load_cuda(const Drivers& drivers) {
  void* library = drivers.open(kLibrary);
  if (library == nullptr) {
    return unsupported("this machine has no CUDA driver: there is no libcuda.so.1; install NVIDIA's driver");
  }
  CudaApi api;
#define FERRY_CUDA_LOAD(member, name, parameters) \
  api.member = reinterpret_cast<decltype(api.member)>(drivers.symbol(library, name));
  FERRY_CUDA_FUNCTIONS(FERRY_CUDA_LOAD)
  FERRY_CUDA_NEWER_FUNCTIONS(FERRY_CUDA_LOAD)
#undef FERRY_CUDA_LOAD
  const char* missing = nullptr;
#define FERRY_CUDA_CHECK(member, name, parameters) \
  if (api.member == nullptr) missing = name;
  FERRY_CUDA_FUNCTIONS(FERRY_CUDA_CHECK)
#undef FERRY_CUDA_CHECK
  if (missing != nullptr) {
    return unsupported(
        format("this machine's CUDA driver is older than CUDA 11: it has no %s; update NVIDIA's driver", missing));
  }
  if (api.driver_version(&api.version) != kCuSuccess || api.version < kOldest) {
    return unsupported(
        format("this machine's CUDA driver supports CUDA %d.%d, expected 11.0 or later; update NVIDIA's "
               "driver",
               api.version / 1000, api.version % 1000 / 10));
  }
  if (const CuResult error = api.init(0); error == kCuNoDevice) {
    return unsupported(
        "this machine has a CUDA driver but no GPU that this program may use; see what nvidia-smi lists, "
        "and CUDA_VISIBLE_DEVICES");
  } else if (error != kCuSuccess) {
    return unsupported("this machine's CUDA driver does not start: cuInit: " + cuda_error_text(api, error) +
                       "; see whether nvidia-smi works");
  }
  return api;
}

std::string cuda_error_text(const CudaApi& api, CuResult error) {
  const char* name = nullptr;
  if (api.error_name(error, &name) != kCuSuccess || name == nullptr) name = "an error";
  return format("%s (%d)", name, error);
}

Status cuda_failure(const CudaApi& api, const char* function, CuResult error) {
  const bool memory = error == kCuOutOfMemory || error == kCuLaunchOutOfResources;
  return {memory ? ErrorCode::resource_exhausted : ErrorCode::device_error,
          format("CUDA: %s: %s", function, cuda_error_text(api, error).c_str())};
}

bool is_kernel_crash(CuResult error) {
  switch (error) {
    case kCuIllegalAddress:
    case kCuLaunchTimeout:
    case kCuAssert:
    case kCuHardwareStackError:
    case kCuIllegalInstruction:
    case kCuMisalignedAddress:
    case kCuInvalidAddressSpace:
    case kCuInvalidPc:
    case kCuLaunchFailed: return true;
    default: return false;
  }
}

}  // namespace ferry::device
