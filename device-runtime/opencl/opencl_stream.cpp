#include "device-runtime/opencl/opencl_stream.h"

#include "base/format.h"
#include "device-runtime/opencl/opencl_limits.h"

namespace ferry::device {
namespace {

// Bounds the queue, and with it the memory of its entries.
constexpr std::uint64_t kMaxQueued = 1024;

}  // namespace

OpenClStream::~OpenClStream() {
  steps_.clear();
  sub_buffers_.clear();
}

Status OpenClStream::add(BoundNativeCall call) {
  return {ErrorCode::unsupported,
          function_.name + ": '" + *call.symbol + "' is native code, which an OpenCL device does not run"};
}

Status OpenClStream::add(BoundLaunch bound) {
  const OpenClApi& api = device_.api();
  cl_int error = CL_SUCCESS;
  Launch launch{
      OwnedCl(api.clCreateKernel(program_, bound.kernel.c_str(), &error), api.clReleaseKernel), {}, {}, {}, {}, {}};
  if (error != CL_SUCCESS) return opencl_failure("clCreateKernel", error);
  FERRY_TRY(check_launch_limits(device_, function_, bound, launch.kernel.get()));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    launch.local[axis] = static_cast<std::size_t>(bound.block[axis]);
    launch.global[axis] = launch.local[axis] * static_cast<std::size_t>(bound.grid[axis]);
  }
  for (std::size_t i = 0; i < bound.operands.size(); ++i) {
    const BoundOperand& operand = bound.operands[i];
    FERRY_TRY(set(launch.kernel.get(), static_cast<cl_uint>(i), operand));
    launch.number_bytes.push_back(operand.is_memory ? std::uint8_t{0} : static_cast<std::uint8_t>(operand.bytes));
  }
  launch.described = {bound.kernel, bound.grid, bound.block, 0, 0, {}, StepKind::launch};
  launch.described.shared_bytes = bound.shared_bytes + shared_memory_of(device_, launch.kernel.get());
  steps_.emplace_back(std::move(launch));
  return {};
}

Status OpenClStream::add(BoundCopy copy) {
  steps_.emplace_back(copy);
  return {};
}

Status OpenClStream::add(BoundFill fill) {
  steps_.emplace_back(fill);
  return {};
}

StepTime OpenClStream::describe(std::size_t step) const {
  if (const auto* launch = std::get_if<Launch>(&steps_[step])) return launch->described;
  StepTime time;
  time.kind = steps_[step].index() == 1 ? StepKind::copy : StepKind::fill;
  return time;
}

Status OpenClStream::set(cl_kernel kernel, cl_uint index, const BoundOperand& operand) {
  cl_int error = CL_SUCCESS;
  if (!operand.is_memory) {
    error = device_.api().clSetKernelArg(kernel, index, operand.bytes, &operand.bits);
  } else {
    FERRY_ASSIGN(const cl_mem buffer, buffer_at(operand.memory));
    error = device_.api().clSetKernelArg(kernel, index, sizeof buffer, &buffer);
  }
  return error == CL_SUCCESS ? Status() : opencl_failure("clSetKernelArg", error);
}

// Commands that were queued keep the memory objects that they use.
Status OpenClStream::replace(Launch& launch, std::size_t index, const BoundOperand& operand) {
  const std::size_t before = sub_buffers_.size();
  FERRY_TRY(set(launch.kernel.get(), static_cast<cl_uint>(index), operand));
  if (sub_buffers_.size() == before) return {};
  launch.replaced.resize(launch.number_bytes.size());
  launch.replaced[index] = std::move(sub_buffers_.back());
  sub_buffers_.pop_back();
  return {};
}

std::int32_t OpenClStream::set(std::size_t step, std::size_t operand, std::uint64_t to) {
  void* const memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(to));
  if (auto* launch = std::get_if<Launch>(&steps_[step])) {
    const std::size_t bytes = launch->number_bytes[operand];
    const Status status = replace(*launch, operand, {bytes == 0, memory, to, bytes});
    if (!status.is_ok()) failure_ = status;
    return status.is_ok() ? 0 : -1;
  }
  if (auto* copy = std::get_if<BoundCopy>(&steps_[step])) {
    (operand == 0 ? copy->to : copy->from) = memory;
  } else {
    std::get<BoundFill>(steps_[step]).to = memory;
  }
  return 0;
}

// A kernel argument cannot be an offset into a buffer, so a sub-buffer that begins there is created.
Result<cl_mem> OpenClStream::buffer_at(void* memory) {
  if (memory == nullptr) return cl_mem{nullptr};
  const OpenClDevice::Place place = device_.find(memory);
  if (place.offset == 0) return place.buffer;
  const cl_buffer_region region{place.offset, place.bytes - place.offset};
  // There is nothing to read or write in an empty region.
  if (region.size == 0) return cl_mem{nullptr};
  cl_int error = CL_SUCCESS;
  const cl_mem buffer =
      device_.api().clCreateSubBuffer(place.buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  if (error == CL_MISALIGNED_SUB_BUFFER_OFFSET) {
    return Status(ErrorCode::invalid_argument,
                  format("a view at byte %zu of its buffer: this OpenCL device wants a multiple of more bytes (256 "
                         "suits all)",
                         place.offset));
  }
  if (error != CL_SUCCESS) return opencl_failure("clCreateSubBuffer", error);
  sub_buffers_.emplace_back(buffer, device_.api().clReleaseMemObject);
  return buffer;
}

cl_int OpenClStream::enqueue(const Launch& launch, cl_event* event) {
  return device_.api().clEnqueueNDRangeKernel(device_.queue(), launch.kernel.get(), 3, nullptr, launch.global.data(),
                                              launch.local.data(), 0, nullptr, event);
}

cl_int OpenClStream::enqueue(const BoundCopy& copy, cl_event* event) {
  if (copy.bytes == 0) return CL_SUCCESS;
  const OpenClDevice::Place to = device_.find(copy.to), from = device_.find(copy.from);
  return device_.api().clEnqueueCopyBuffer(device_.queue(), from.buffer, to.buffer, from.offset, to.offset,
                                           static_cast<std::size_t>(copy.bytes), 0, nullptr, event);
}

cl_int OpenClStream::enqueue(const BoundFill& fill, cl_event* event) {
  if (fill.bytes == 0) return CL_SUCCESS;
  const OpenClDevice::Place to = device_.find(fill.to);
  return device_.api().clEnqueueFillBuffer(device_.queue(), to.buffer, &fill.pattern, fill.pattern_bytes, to.offset,
                                           static_cast<std::size_t>(fill.bytes), 0, nullptr, event);
}

std::int32_t OpenClStream::run(std::size_t step, bool) {
  cl_event event = nullptr;
  cl_event* const wanted = open_ == SIZE_MAX ? nullptr : &event;
  cl_int error = std::visit([&](const auto& one) { return enqueue(one, wanted); }, steps_[step]);
  if (event != nullptr) {
    Timing& timing = timings_[open_];
    OwnedCl<cl_event>& slot = timing.first.get() == nullptr ? timing.first : timing.last;
    slot = OwnedCl<cl_event>(event, device_.api().clReleaseEvent);
  }
  if (error == CL_SUCCESS && ++queued_ % kMaxQueued == 0) error = device_.api().clFinish(device_.queue());
  return error == CL_SUCCESS ? 0 : fail("clEnqueueNDRangeKernel", error);
}

std::int32_t OpenClStream::wait() {
  const cl_int error = device_.api().clFinish(device_.queue());
  return error == CL_SUCCESS ? 0 : fail("clFinish", error);
}

std::int32_t OpenClStream::start_timing(std::size_t slot) {
  if (slot >= timings_.size()) timings_.resize(slot + 1);
  timings_[slot] = Timing();
  open_ = slot;
  return 0;
}

std::int32_t OpenClStream::end_timing(std::size_t) {
  open_ = SIZE_MAX;
  return 0;
}

std::int32_t OpenClStream::elapsed(std::size_t slot, std::int64_t& elapsed_ns) const {
  elapsed_ns = 0;
  const Timing& timing = timings_[slot];
  if (timing.first.get() == nullptr) return 0;
  const cl_event last = timing.last.get() != nullptr ? timing.last.get() : timing.first.get();
  const OpenClApi& api = device_.api();
  cl_ulong begin = 0, end = 0;
  cl_int error =
      api.clGetEventProfilingInfo(timing.first.get(), CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr);
  if (error == CL_SUCCESS) {
    error = api.clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
  }
  elapsed_ns = end > begin ? static_cast<std::int64_t>(end - begin) : 0;
  return error == CL_SUCCESS ? 0 : fail("clGetEventProfilingInfo", error);
}

std::int64_t OpenClStream::clock_resolution_ns() const {
  return static_cast<std::int64_t>(device_.info<std::size_t>(CL_DEVICE_PROFILING_TIMER_RESOLUTION));
}

std::int32_t OpenClStream::fail(const char* function, cl_int error) const {
  failure_ = opencl_failure(function, error);
  return -1;
}

}  // namespace ferry::device
