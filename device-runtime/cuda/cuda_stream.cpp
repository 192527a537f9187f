#include "device-runtime/cuda/cuda_stream.h"

#include "base/format.h"

namespace ferry::device {
namespace {

// Resolution of cuEventElapsedTime (CUDA Driver API, "Event Management").
constexpr std::int64_t kEventResolutionNs = 500;
constexpr unsigned kDeviceMapped = 2;

const char* meaning(CuResult error) {
  switch (error) {
    case kCuIllegalAddress: return "it read or wrote outside of any memory";
    case kCuMisalignedAddress:
      return "it copied several elements at once at an address that is no multiple of their size: vectorize fewer, or "
             "where the index is a multiple of their number";
    case kCuInvalidAddressSpace: return "it used an address of another kind of memory";
    case kCuLaunchTimeout: return "it ran longer than the driver allows";
    case kCuIllegalInstruction: return "it has an instruction that this GPU does not know";
    case kCuAssert: return "an assertion in it failed";
    default: return "it was stopped by the GPU";
  }
}

}  // namespace

CudaStream::~CudaStream() {
  const CudaApi& api = device_.api();
  for (const CuEvent event : events_) api.event_destroy(event);
  if (mark_ != nullptr) api.pinned_free(const_cast<unsigned*>(mark_));
}

Status CudaStream::prepare_mark() {
  if (mark_ != nullptr || steps_.size() < 2) return {};
  const CudaApi& api = device_.api();
  void* mark = nullptr;
  CuResult error = api.pinned_take(&mark, sizeof *mark_, kDeviceMapped);
  if (error != kCuSuccess) return cuda_failure(api, "cuMemHostAlloc", error);
  mark_ = static_cast<unsigned*>(mark);
  error = api.pinned_address(&mark_address_, mark, 0);
  return error == kCuSuccess ? Status() : cuda_failure(api, "cuMemHostGetDevicePointer", error);
}

Status CudaStream::add(BoundNativeCall call) {
  return {ErrorCode::unsupported, function_.name + ": '" + *call.symbol + "' is native code, which a GPU does not run"};
}

Status CudaStream::add(BoundLaunch bound) {
  Launch launch;
  FERRY_ASSIGN(launch.kernel, program_.kernel_for(function_, bound));
  launch.bound = std::move(bound);
  for (BoundOperand& operand : launch.bound.operands) {
    launch.parameters.push_back(operand.is_memory ? static_cast<void*>(&operand.memory) : &operand.bits);
  }
  steps_.emplace_back(std::move(launch));
  return prepare_mark();
}

Status CudaStream::add(BoundCopy copy) {
  steps_.emplace_back(copy);
  return prepare_mark();
}

Status CudaStream::add(BoundFill fill) {
  steps_.emplace_back(fill);
  return prepare_mark();
}

std::int32_t CudaStream::set(std::size_t step, std::size_t operand, std::uint64_t to) {
  void* const memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(to));
  if (auto* launch = std::get_if<Launch>(&steps_[step])) {
    // The driver reads parameters while it enqueues the launch.
    BoundOperand& changed = launch->bound.operands[operand];
    if (changed.is_memory) {
      changed.memory = memory;
    } else {
      changed.bits = to;
    }
  } else if (auto* copy = std::get_if<BoundCopy>(&steps_[step])) {
    (operand == 0 ? copy->to : copy->from) = memory;
  } else {
    std::get<BoundFill>(steps_[step]).to = memory;
  }
  return 0;
}

StepTime CudaStream::describe(std::size_t step) const {
  StepTime time;
  if (const auto* launch = std::get_if<Launch>(&steps_[step])) {
    time.kernel = launch->bound.kernel;
    time.grid = launch->bound.grid;
    time.block = launch->bound.block;
    time.shared_bytes = launch->bound.shared_bytes + static_cast<std::uint64_t>(launch->kernel.shared_bytes);
    time.registers = static_cast<std::uint32_t>(launch->kernel.registers);
  }
  time.kind = static_cast<StepKind>(steps_[step].index() + 2);
  return time;
}

CuResult CudaStream::enqueue(Launch& launch) {
  const auto extent = [](std::uint64_t value) { return static_cast<unsigned>(value); };
  const BoundLaunch& bound = launch.bound;
  return device_.api().launch(launch.kernel.function, extent(bound.grid[0]), extent(bound.grid[1]),
                              extent(bound.grid[2]), extent(bound.block[0]), extent(bound.block[1]),
                              extent(bound.block[2]), extent(bound.shared_bytes), device_.stream(),
                              launch.parameters.data(), nullptr);
}

CuResult CudaStream::enqueue(const BoundCopy& copy) {
  if (copy.bytes == 0) return kCuSuccess;
  return device_.api().copy_on_device(address(copy.to), address(copy.from), static_cast<std::size_t>(copy.bytes),
                                      device_.stream());
}

CuResult CudaStream::enqueue(const BoundFill& fill) {
  if (fill.bytes == 0) return kCuSuccess;
  const CudaApi& api = device_.api();
  const auto count = static_cast<std::size_t>(fill.bytes / fill.pattern_bytes);
  const CuDevicePointer to = address(fill.to);
  if (fill.pattern_bytes == 1) {
    return api.set_bytes(to, static_cast<unsigned char>(fill.pattern), count, device_.stream());
  }
  if (fill.pattern_bytes == 2) {
    return api.set_halves(to, static_cast<unsigned short>(fill.pattern), count, device_.stream());
  }
  return api.set_words(to, fill.pattern, count, device_.stream());
}

std::int32_t CudaStream::run(std::size_t step, bool traced) {
  is_traced_ = traced && mark_ != nullptr;
  CuResult error = kCuSuccess;
  if (is_traced_ && next_ == 0 && step == 0) {
    *mark_ = 0;
  } else if (is_traced_ && step != next_) {
    error = device_.api().set_words(mark_address_, static_cast<unsigned>(step), 1, device_.stream());
    if (error != kCuSuccess) return fail("cuMemsetD32Async", error);
  }
  next_ = step + 1;
  error = std::visit([this](auto& one) { return enqueue(one); }, steps_[step]);
  if (error == kCuSuccess && is_traced_) {
    error = device_.api().set_words(mark_address_, static_cast<unsigned>(step + 1), 1, device_.stream());
  }
  return error == kCuSuccess ? 0 : fail("cuLaunchKernel", error);
}

std::int32_t CudaStream::wait() {
  const CuResult error = device_.api().stream_wait(device_.stream());
  next_ = 0;
  return error == kCuSuccess ? 0 : fail("cuStreamSynchronize", error);
}

std::int64_t CudaStream::clock_resolution_ns() const { return kEventResolutionNs; }

std::int32_t CudaStream::record(std::size_t event) {
  const CudaApi& api = device_.api();
  while (events_.size() <= event) {
    CuEvent created = nullptr;
    if (const CuResult error = api.event_create(&created, kCuEventDefault); error != kCuSuccess) {
      return fail("cuEventCreate", error);
    }
    events_.push_back(created);
  }
  const CuResult error = api.event_record(events_[event], device_.stream());
  return error == kCuSuccess ? 0 : fail("cuEventRecord", error);
}

std::int32_t CudaStream::start_timing(std::size_t slot) { return record(2 * slot); }

std::int32_t CudaStream::end_timing(std::size_t slot) { return record(2 * slot + 1); }

std::int32_t CudaStream::elapsed(std::size_t slot, std::int64_t& elapsed_ns) const {
  float milliseconds = 0;
  const CuResult error = device_.api().event_elapsed(&milliseconds, events_[2 * slot], events_[2 * slot + 1]);
  elapsed_ns = static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
  return error == kCuSuccess ? 0 : fail("cuEventElapsedTime", error);
}

// Names the kernel that was running, or all of them if that is unknown.
std::string CudaStream::kernels() const {
  const auto name = [this](std::size_t step) { return "'" + describe(step).kernel + "'"; };
  if (is_traced_ && *mark_ < steps_.size() && steps_[*mark_].index() == 0) return "kernel " + name(*mark_);
  std::string names;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].index() == 0) names += (names.empty() ? "" : ", ") + name(i);
  }
  return (steps_.size() == 1 ? "kernel " : "one of the kernels ") + names;
}

std::int32_t CudaStream::fail(const char* what, CuResult error) const {
  const CudaApi& api = device_.api();
  if (is_kernel_crash(error)) {
    failure_ = {ErrorCode::kernel_crashed,
                format("%s: %s ended the session with %s: %s", function_.name.c_str(), kernels().c_str(),
                       cuda_error_text(api, error).c_str(), meaning(error))};
  } else {
    failure_ = cuda_failure(api, what, error);
  }
  return -1;
}

}  // namespace ferry::device
