#include "device-runtime/cuda/cuda_device.h"

#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "device-runtime/cuda/cuda_program.h"

namespace ferry::device {
namespace {

constexpr int kMaxName = 128;
// Used if the driver does not report the size of the cache; larger than any existing cache.
constexpr std::size_t kUnknownCacheBytes = std::size_t{64} << 20;

int attribute_of(const CudaApi& api, CuDevice device, int what) {
  int value = 0;
  return api.device_attribute(&value, what, device) == kCuSuccess ? value : 0;
}

unsigned architecture_of(const CudaApi& api, CuDevice device) {
  return static_cast<unsigned>(10 * attribute_of(api, device, kCuComputeCapabilityMajor) +
                               attribute_of(api, device, kCuComputeCapabilityMinor));
}

ComputeDevice description_of(const CudaApi& api, CuDevice device) {
  char name[kMaxName] = {};
  std::size_t memory = 0;
  api.device_name(name, kMaxName - 1, device);
  api.device_memory(&memory, device);
  const std::string arch = format("sm_%u", architecture_of(api, device));
  return {"cuda", format("%s (%s)", name, arch.c_str()), memory, arch};
}

}  // namespace

Result<std::vector<ComputeDevice>> list_cuda_devices(const Drivers& drivers) {
  FERRY_ASSIGN(const CudaApi api, load_cuda(drivers));
  int count = 0;
  if (const CuResult error = api.device_count(&count); error != kCuSuccess)
    return cuda_failure(api, "cuDeviceGetCount", error);
  std::vector<ComputeDevice> list;
  for (int i = 0; i < count; ++i) {
    CuDevice device = 0;
    if (api.device_get(&device, i) == kCuSuccess) list.push_back(description_of(api, device));
  }
  return list;
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::open(const Drivers& drivers, std::size_t index,
                                                     std::uint64_t memory_limit) {
  FERRY_ASSIGN(const CudaApi api, load_cuda(drivers));
  int count = 0;
  api.device_count(&count);
  if (index >= static_cast<std::size_t>(count)) {
    return Status(ErrorCode::not_found,
                  format("there is no device cuda:%zu; this machine has %d, from cuda:0 on", index, count));
  }
  CuDevice handle = 0;
  if (const CuResult error = api.device_get(&handle, static_cast<int>(index)); error != kCuSuccess)
    return cuda_failure(api, "cuDeviceGet", error);
  std::unique_ptr<CudaDevice> device(new CudaDevice(api, handle, description_of(api, handle), memory_limit));
  FERRY_TRY(device->start(drivers));
  return device;
}

CudaDevice::CudaDevice(const CudaApi& api, CuDevice device, ComputeDevice description, std::uint64_t memory_limit)
    : api_(api),
      device_(device),
      description_(std::move(description)),
      memory_(std::min(memory_limit, description_.memory_bytes), "the memory of this GPU",
              "free tensors, or take smaller ones"),
      architecture_(architecture_of(api, device)) {}

Status CudaDevice::start(const Drivers& drivers) {
  CuResult error = api_.context_retain(&context_, device_);
  if (error == kCuSuccess) error = api_.context_use(context_);
  if (error != kCuSuccess) return cuda_failure(api_, "cuDevicePrimaryCtxRetain", error);
  error = api_.stream_create(&stream_, kCuStreamNonBlocking);
  if (error != kCuSuccess) return cuda_failure(api_, "cuStreamCreate", error);
  staging_ = std::make_unique<CudaStaging>(api_, stream_);
  char bus_id[kMaxName] = {};
  if (api_.device_bus_id(bus_id, kMaxName - 1, device_) == kCuSuccess) nvml_ = Nvml(drivers, bus_id);
  return {};
}

CudaDevice::~CudaDevice() {
  staging_.reset();
  if (wiped_ != 0) api_.memory_free(wiped_);
  if (stream_ != nullptr) api_.stream_destroy(stream_);
  if (context_ != nullptr) api_.context_release(device_);
}

int CudaDevice::attribute(int what) const { return attribute_of(api_, device_, what); }

Result<void*> CudaDevice::allocate(std::uint64_t bytes) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  FERRY_TRY(memory_.take(bytes));
  CuDevicePointer memory = 0;
  CuResult error = api_.memory_take(&memory, static_cast<std::size_t>(bytes));
  if (error == kCuSuccess) {
    error = api_.set_bytes(memory, 0, static_cast<std::size_t>(bytes), stream_);
    if (error == kCuSuccess) return reinterpret_cast<void*>(static_cast<std::uintptr_t>(memory));
    api_.memory_free(memory);
  }
  memory_.give_back(bytes);
  if (error != kCuOutOfMemory) return cuda_failure(api_, "cuMemAlloc", error);
  std::size_t left = 0, all = 0;
  api_.memory_info(&left, &all);
  return Status(ErrorCode::resource_exhausted,
                format("the GPU is out of memory: expected at most %llu bytes, got %llu; this session holds %llu of "
                       "%llu: free tensors, take smaller ones, or see in nvidia-smi who else uses the GPU",
                       number(left), number(bytes), number(memory_.used()), number(all)));
}

void CudaDevice::release(void* memory, std::uint64_t bytes) {
  if (memory == nullptr) return;
  // The driver waits for pending work that uses the memory.
  api_.memory_free(address(memory));
  memory_.give_back(bytes);
}

Status CudaDevice::write_pieces(void* memory, std::uint64_t offset, std::uint64_t bytes, const FillPiece& fill) {
  return staging_->write(address(memory, offset), bytes, fill);
}

Status CudaDevice::read_pieces(void* memory, std::uint64_t offset, std::uint64_t bytes, const TakePiece& take) {
  return staging_->read(address(memory, offset), bytes, take);
}

Status CudaDevice::write(void* memory, std::uint64_t offset, std::span<const std::uint8_t> from) {
  return write_pieces(memory, offset, from.size(), [&](std::span<std::uint8_t> piece) {
    std::memcpy(piece.data(), from.data(), piece.size());
    from = from.subspan(piece.size());
    return Status();
  });
}

Status CudaDevice::read(void* memory, std::uint64_t offset, std::span<std::uint8_t> into) {
  return read_pieces(memory, offset, into.size(), [&](std::span<const std::uint8_t> piece) {
    std::memcpy(into.data(), piece.data(), piece.size());
    into = into.subspan(piece.size());
    return Status();
  });
}

Status CudaDevice::copy(void* destination, std::uint64_t destination_offset, void* source, std::uint64_t source_offset,
                        std::uint64_t bytes) {
  if (bytes == 0) return {};
  const CuDevicePointer to = address(destination, destination_offset), from = address(source, source_offset);
  const auto size = static_cast<std::size_t>(bytes);
  const bool overlap = std::max(to, from) < std::min(to, from) + size;
  CuDevicePointer between = 0;
  CuResult error = kCuSuccess;
  if (overlap) error = api_.memory_take(&between, size);
  if (error == kCuSuccess) error = api_.copy_on_device(overlap ? between : to, from, size, stream_);
  if (error == kCuSuccess && overlap) error = api_.copy_on_device(to, between, size, stream_);
  if (error == kCuSuccess) error = api_.stream_wait(stream_);
  if (between != 0) api_.memory_free(between);
  return error == kCuSuccess ? Status() : cuda_failure(api_, "cuMemcpyDtoDAsync", error);
}

Result<std::unique_ptr<Program>> CudaDevice::load(const ModuleFile& module, const Hash&) {
  return load_cuda_program(module, *this);
}

Result<std::uint64_t> CudaDevice::prepare_wiping() {
  if (wiped_ != 0) return std::uint64_t{wiped_bytes_};
  const int cache = attribute(kCuL2CacheSize);
  wiped_bytes_ = cache > 0 ? 2 * static_cast<std::size_t>(cache) : kUnknownCacheBytes;
  const CuResult error = api_.memory_take(&wiped_, wiped_bytes_);
  if (error == kCuSuccess) return std::uint64_t{wiped_bytes_};
  wiped_ = 0;
  return cuda_failure(api_, "cuMemAlloc", error);
}

void CudaDevice::wipe_caches() { api_.set_bytes(wiped_, 0x5a, wiped_bytes_, stream_); }

std::string CudaDevice::watched_text(const std::string& name) {
  if (name == "architecture") return format("sm_%u", architecture_);
  if (name == "driver") return format("%d.%d", api_.version / 1000, api_.version % 1000 / 10);
  constexpr struct {
    const char* name;
    int attribute;
  } kNumbers[] = {{"multiprocessors", kCuMultiprocessorCount},
                  {"l2_bytes", kCuL2CacheSize},
                  {"warp_threads", kCuWarpSize},
                  {"block_threads", kCuMaxThreadsPerBlock},
                  {"block_shared_bytes", kCuMaxSharedMemoryPerBlockOptin},
                  {"block_registers", kCuMaxRegistersPerBlock},
                  {"multiprocessor_threads", kCuMaxThreadsPerMultiprocessor},
                  {"multiprocessor_shared_bytes", kCuMaxSharedMemoryPerMultiprocessor},
                  {"multiprocessor_registers", kCuMaxRegistersPerMultiprocessor},
                  {"peak_clock_khz", kCuClockRateKhz},
                  {"peak_memory_clock_khz", kCuMemoryClockRateKhz},
                  {"memory_bus_bits", kCuMemoryBusBits}};
  for (const auto& number : kNumbers) {
    if (name != number.name) continue;
    const int value = attribute(number.attribute);
    return value > 0 ? format("%d", value) : std::string();
  }
  return nvml_.text(name);
}

}  // namespace ferry::device
