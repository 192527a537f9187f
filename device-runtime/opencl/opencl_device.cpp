#include "device-runtime/opencl/opencl_device.h"

#include <algorithm>

#include "base/format.h"
#include "device-runtime/opencl/opencl_program.h"

namespace ferry::device {
namespace {

constexpr cl_ulong kUnknownCacheBytes = 64 << 20, kMostWipedBytes = 512 << 20;

constexpr std::uintptr_t kGap = 1 << 16;  // between the address ranges of two buffers

std::string text_of(const OpenClApi& api, cl_device_id device, cl_device_info what) {
  std::size_t bytes = 0;
  if (api.clGetDeviceInfo(device, what, 0, nullptr, &bytes) != CL_SUCCESS) return {};
  std::string text(bytes, '\0');
  if (api.clGetDeviceInfo(device, what, bytes, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

std::vector<cl_device_id> all_devices(const OpenClApi& api) {
  cl_uint count = 0;
  if (api.clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_platform_id> platforms(count);
  if (count == 0 || api.clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) return {};
  std::vector<cl_device_id> devices;
  for (const cl_platform_id platform : platforms) {
    cl_uint more = 0;
    if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &more) != CL_SUCCESS || more == 0) continue;
    devices.resize(devices.size() + more);
    if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, more, devices.data() + devices.size() - more, nullptr) !=
        CL_SUCCESS) {
      devices.resize(devices.size() - more);
    }
  }
  return devices;
}

ComputeDevice description_of(const OpenClApi& api, cl_device_id device) {
  cl_ulong memory = 0;
  api.clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, nullptr);
  return {"opencl", text_of(api, device, CL_DEVICE_NAME), memory};
}

}  // namespace

Result<std::vector<ComputeDevice>> list_opencl_devices(const Drivers& drivers) {
  FERRY_ASSIGN(const OpenClApi api, load_opencl(drivers));
  std::vector<ComputeDevice> list;
  for (const cl_device_id device : all_devices(api)) list.push_back(description_of(api, device));
  if (!list.empty()) return list;
  return Status(
      ErrorCode::unsupported,
      "this machine has OpenCL but no device for it: install the driver of its GPU, or PoCL for its processor");
}

Result<std::unique_ptr<OpenClDevice>> OpenClDevice::open(const Drivers& drivers, std::size_t index,
                                                         MemoryBudget& budget) {
  FERRY_ASSIGN(const OpenClApi api, load_opencl(drivers));
  const std::vector<cl_device_id> devices = all_devices(api);
  if (index >= devices.size()) {
    return Status(ErrorCode::not_found, format("there is no device opencl:%zu; this machine has %zu, from opencl:0 on",
                                               index, devices.size()));
  }
  std::unique_ptr<OpenClDevice> device(new OpenClDevice(api, budget));
  device->device_ = devices[index];
  device->description_ = description_of(api, devices[index]);
  cl_int error = CL_SUCCESS;
  device->context_ = api.clCreateContext(nullptr, 1, &device->device_, nullptr, nullptr, &error);
  if (device->context_ == nullptr) return opencl_failure("clCreateContext", error);
  device->queue_ = api.clCreateCommandQueue(device->context_, device->device_, CL_QUEUE_PROFILING_ENABLE, &error);
  if (device->queue_ == nullptr) return opencl_failure("clCreateCommandQueue", error);
  return device;
}

OpenClDevice::~OpenClDevice() {
  if (wiped_ != nullptr) api_.clReleaseMemObject(wiped_);
  for (const auto& [number, block] : blocks_) api_.clReleaseMemObject(block.buffer);
  if (queue_ != nullptr) api_.clReleaseCommandQueue(queue_);
  if (context_ != nullptr) api_.clReleaseContext(context_);
}

Status OpenClDevice::out_of_memory(std::uint64_t bytes, cl_int error) const {
  const Status failure = opencl_failure("clCreateBuffer", error);
  if (failure.code() != ErrorCode::resource_exhausted) return failure;
  const auto most = static_cast<unsigned long long>(info<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  return {failure.code(),
          format("the OpenCL device is out of memory: expected at most %llu bytes for one tensor and less "
                 "where others hold some, got %llu: free tensors, or take smaller ones (%s)",
                 most, static_cast<unsigned long long>(bytes), failure.message().c_str())};
}

Result<void*> OpenClDevice::allocate(std::uint64_t bytes) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  if (bytes > UINTPTR_MAX - kGap - next_) {
    return Status(ErrorCode::resource_exhausted, "the session has had more memory of the device than it can count");
  }
  FERRY_TRY(budget_.take(bytes));
  const auto size = static_cast<std::size_t>(bytes);
  cl_int error = CL_SUCCESS;
  const cl_mem buffer = api_.clCreateBuffer(context_, CL_MEM_READ_WRITE, size, nullptr, &error);
  if (buffer == nullptr) {
    budget_.give_back(bytes);
    return out_of_memory(bytes, error);
  }
  const cl_uchar zero = 0;
  error = api_.clEnqueueFillBuffer(queue_, buffer, &zero, sizeof zero, 0, size, 0, nullptr, nullptr);
  if (error == CL_SUCCESS) error = api_.clFinish(queue_);
  if (error != CL_SUCCESS) {
    api_.clReleaseMemObject(buffer);
    budget_.give_back(bytes);
    return out_of_memory(bytes, error);
  }
  const std::uintptr_t number = next_;
  blocks_[number] = {buffer, size};
  next_ += (static_cast<std::uintptr_t>(size) + 2 * kGap - 1) / kGap * kGap;
  return reinterpret_cast<void*>(number);
}

void OpenClDevice::release(void* memory, std::uint64_t bytes) {
  const auto block = blocks_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (block == blocks_.end()) return;
  api_.clReleaseMemObject(block->second.buffer);
  blocks_.erase(block);
  budget_.give_back(bytes);
}

OpenClDevice::Place OpenClDevice::find(void* memory) const {
  const auto number = reinterpret_cast<std::uintptr_t>(memory);
  auto block = blocks_.upper_bound(number);
  if (block == blocks_.begin()) return {};
  --block;
  return {block->second.buffer, number - block->first, block->second.bytes};
}

Status OpenClDevice::write(void* memory, std::uint64_t offset, std::span<const std::uint8_t> from) {
  if (from.empty()) return {};
  const Place place = find(memory);
  const cl_int error =
      api_.clEnqueueWriteBuffer(queue_, place.buffer, CL_TRUE, place.offset + static_cast<std::size_t>(offset),
                                from.size(), from.data(), 0, nullptr, nullptr);
  return error == CL_SUCCESS ? Status() : opencl_failure("clEnqueueWriteBuffer", error);
}

Status OpenClDevice::read(void* memory, std::uint64_t offset, std::span<std::uint8_t> into) {
  if (into.empty()) return {};
  const Place place = find(memory);
  const cl_int error =
      api_.clEnqueueReadBuffer(queue_, place.buffer, CL_TRUE, place.offset + static_cast<std::size_t>(offset),
                               into.size(), into.data(), 0, nullptr, nullptr);
  return error == CL_SUCCESS ? Status() : opencl_failure("clEnqueueReadBuffer", error);
}

Status OpenClDevice::copy(void* destination, std::uint64_t destination_offset, void* source,
                          std::uint64_t source_offset, std::uint64_t bytes) {
  if (bytes == 0) return {};
  const Place to = find(destination), from = find(source);
  const std::size_t to_offset = to.offset + static_cast<std::size_t>(destination_offset);
  const std::size_t from_offset = from.offset + static_cast<std::size_t>(source_offset);
  const auto size = static_cast<std::size_t>(bytes);
  const auto enqueue = [&](cl_mem a, std::size_t a_offset, cl_mem b, std::size_t b_offset) {
    return api_.clEnqueueCopyBuffer(queue_, a, b, a_offset, b_offset, size, 0, nullptr, nullptr);
  };
  cl_int error = CL_SUCCESS;
  const bool overlap =
      to.buffer == from.buffer && std::max(to_offset, from_offset) < std::min(to_offset, from_offset) + size;
  if (!overlap) {
    error = enqueue(from.buffer, from_offset, to.buffer, to_offset);
  } else {
    const cl_mem between = api_.clCreateBuffer(context_, CL_MEM_READ_WRITE, size, nullptr, &error);
    if (between == nullptr) return opencl_failure("clCreateBuffer", error);
    error = enqueue(from.buffer, from_offset, between, 0);
    if (error == CL_SUCCESS) error = enqueue(between, 0, to.buffer, to_offset);
    if (error == CL_SUCCESS) error = api_.clFinish(queue_);
    api_.clReleaseMemObject(between);
  }
  if (error == CL_SUCCESS) error = api_.clFinish(queue_);
  return error == CL_SUCCESS ? Status() : opencl_failure("clEnqueueCopyBuffer", error);
}

Result<std::uint64_t> OpenClDevice::prepare_wiping() {
  if (wiped_ != nullptr) return std::uint64_t{wiped_bytes_};
  const auto cache = info<cl_ulong>(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  wiped_bytes_ = static_cast<std::size_t>(std::min(2 * (cache != 0 ? cache : kUnknownCacheBytes), kMostWipedBytes));
  cl_int error = CL_SUCCESS;
  wiped_ = api_.clCreateBuffer(context_, CL_MEM_READ_WRITE, wiped_bytes_, nullptr, &error);
  if (wiped_ == nullptr) return opencl_failure("clCreateBuffer", error);
  return std::uint64_t{wiped_bytes_};
}

void OpenClDevice::wipe_caches() {
  const cl_uchar byte = 0x5a;
  api_.clEnqueueFillBuffer(queue_, wiped_, &byte, sizeof byte, 0, wiped_bytes_, 0, nullptr, nullptr);
}

Result<std::unique_ptr<Program>> OpenClDevice::load(const ModuleFile& module, const Hash&) {
  return load_opencl_program(module, *this);
}

std::string OpenClDevice::watched_text(const std::string& name) {
  unsigned long long value = 0;
  if (name == "block_threads") value = info<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
  if (name == "block_shared_bytes") value = info<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE);
  if (name == "multiprocessors") value = info<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS);
  if (name == "l2_bytes") value = info<cl_ulong>(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  if (name == "max_sm_clock_mhz") value = info<cl_uint>(CL_DEVICE_MAX_CLOCK_FREQUENCY);
  return value == 0 ? std::string() : format("%llu", value);
}

}  // namespace ferry::device
