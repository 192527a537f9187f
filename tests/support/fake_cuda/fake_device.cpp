// Devices, contexts and memory.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/support/fake_cuda/fake.h"

namespace ferry::fake {

long long setting(const char* name, long long otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

State& state() {
  static State only;
  return only;
}

CuResult ready() {
  if (!state().is_awake) return kNotInitialized;
  if (!state().has_context) return kInvalidContext;
  return state().broken;
}

void* real(CuDevicePointer address, std::size_t bytes) {
  const std::uint64_t begin = address - kGpu;
  auto block = state().memory.upper_bound(begin);
  if (address >= kGpu && block != state().memory.begin()) {
    --block;
    if (begin + bytes <= block->first + block->second) return reinterpret_cast<void*>(begin);
  }
  for (const auto& [memory, size] : state().pinned) {
    const auto first = reinterpret_cast<std::uint64_t>(memory);
    if (address >= first && address + bytes <= first + size) return reinterpret_cast<void*>(address);
  }
  state().broken = kCuIllegalAddress;
  return nullptr;
}

}  // namespace ferry::fake

using namespace ferry::fake;

FERRY_FAKE_API cuInit(unsigned) {
  if (setting("FERRY_FAKE_CUDA_DEVICES", 1) == 0) return kCuNoDevice;
  state().is_awake = true;
  return kCuSuccess;
}

FERRY_FAKE_API cuDriverGetVersion(int* version) {
  *version = static_cast<int>(setting("FERRY_FAKE_CUDA_VERSION", 12040));
  return kCuSuccess;
}

FERRY_FAKE_API cuGetErrorName(CuResult error, const char** name) {
  if (error == state().broken && !state().fault.empty()) {
    *name = state().fault.c_str();
    return kCuSuccess;
  }
  switch (error) {
    case kCuOutOfMemory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case kCuIllegalAddress: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
    case kCuMisalignedAddress: *name = "CUDA_ERROR_MISALIGNED_ADDRESS"; break;
    case kCuNoBinaryForGpu: *name = "CUDA_ERROR_NO_BINARY_FOR_GPU"; break;
    case kCuInvalidValue: *name = "CUDA_ERROR_INVALID_VALUE"; break;
    default: return kCuInvalidValue;
  }
  return kCuSuccess;
}

FERRY_FAKE_API cuDeviceGetCount(int* count) {
  *count = static_cast<int>(setting("FERRY_FAKE_CUDA_DEVICES", 1));
  return state().is_awake ? kCuSuccess : kNotInitialized;
}

FERRY_FAKE_API cuDeviceGet(CuDevice* device, int index) {
  *device = index;
  return kCuSuccess;
}

FERRY_FAKE_API cuDeviceGetName(char* name, int bytes, CuDevice device) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "Fake GPU %d", device);
  return kCuSuccess;
}

FERRY_FAKE_API cuDeviceTotalMem_v2(std::size_t* bytes, CuDevice) {
  *bytes = static_cast<std::size_t>(setting("FERRY_FAKE_CUDA_MEMORY", 1 << 30));
  return kCuSuccess;
}

FERRY_FAKE_API cuDeviceGetAttribute(int* value, int what, CuDevice) {
  const int architecture = static_cast<int>(setting("FERRY_FAKE_CUDA_ARCH", 90));
  switch (what) {
    case kCuMaxThreadsPerBlock: *value = 1024; break;
    case kCuMaxBlockDimX:
    case kCuMaxBlockDimX + 1: *value = 1024; break;
    case kCuMaxBlockDimX + 2: *value = 64; break;
    case kCuMaxGridDimX: *value = INT32_MAX; break;
    case kCuMaxGridDimX + 1:
    case kCuMaxGridDimX + 2: *value = 65535; break;
    case kCuWarpSize: *value = 32; break;
    case kCuMaxRegistersPerBlock:
    case kCuMaxRegistersPerMultiprocessor: *value = 65536; break;
    case kCuMaxThreadsPerMultiprocessor: *value = 2048; break;
    case kCuMaxSharedMemoryPerMultiprocessor: *value = 233472; break;
    case kCuClockRateKhz: *value = 1980000; break;
    case kCuMemoryClockRateKhz: *value = 2619000; break;
    case kCuMemoryBusBits: *value = 5120; break;
    case kCuMultiprocessorCount: *value = 7; break;
    case kCuL2CacheSize: *value = 1 << 20; break;
    case kCuComputeCapabilityMajor: *value = architecture / 10; break;
    case kCuComputeCapabilityMinor: *value = architecture % 10; break;
    case kCuMaxSharedMemoryPerBlockOptin: *value = 232448; break;
    default: return kCuInvalidValue;
  }
  return kCuSuccess;
}

FERRY_FAKE_API cuDeviceGetPCIBusId(char* id, int bytes, CuDevice device) {
  std::snprintf(id, static_cast<std::size_t>(bytes), "0000:%02d:00.0", device + 1);
  return kCuSuccess;
}

FERRY_FAKE_API cuDevicePrimaryCtxRetain(CuContext* context, CuDevice) {
  *context = reinterpret_cast<CuContext>(&state());
  return kCuSuccess;
}

FERRY_FAKE_API cuDevicePrimaryCtxRelease_v2(CuDevice) {
  state().has_context = false;
  return kCuSuccess;
}

FERRY_FAKE_API cuCtxSetCurrent(CuContext context) {
  state().has_context = context != nullptr;
  return kCuSuccess;
}

FERRY_FAKE_API cuMemGetInfo_v2(std::size_t* left, std::size_t* all) {
  cuDeviceTotalMem_v2(all, 0);
  *left = *all - state().used;
  return ready();
}

FERRY_FAKE_API cuMemAlloc_v2(CuDevicePointer* memory, std::size_t bytes) {
  if (const CuResult error = ready(); error != kCuSuccess) return error;
  std::size_t left = 0, all = 0;
  cuMemGetInfo_v2(&left, &all);
  if (bytes > left) return kCuOutOfMemory;
  void* block = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (block == nullptr) return kCuOutOfMemory;
  std::memset(block, 0xcd, bytes);
  state().memory[reinterpret_cast<std::uint64_t>(block)] = bytes;
  state().used += bytes;
  *memory = reinterpret_cast<std::uint64_t>(block) + kGpu;
  return kCuSuccess;
}

FERRY_FAKE_API cuMemFree_v2(CuDevicePointer memory) {
  run_queue();
  const auto block = state().memory.find(memory - kGpu);
  if (block == state().memory.end()) return kCuInvalidValue;
  state().used -= block->second;
  std::free(reinterpret_cast<void*>(block->first));
  state().memory.erase(block);
  return ready();
}

FERRY_FAKE_API cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  if (const CuResult error = ready(); error != kCuSuccess) return error;
  *memory = std::calloc(1, bytes);
  state().pinned[*memory] = bytes;
  return kCuSuccess;
}

FERRY_FAKE_API cuMemFreeHost(void* memory) {
  run_queue();
  if (state().pinned.erase(memory) == 0) return kCuInvalidValue;
  std::free(memory);
  return ready();
}

FERRY_FAKE_API cuMemHostGetDevicePointer_v2(CuDevicePointer* address, void* memory, unsigned) {
  *address = reinterpret_cast<std::uint64_t>(memory);
  return ready();
}
