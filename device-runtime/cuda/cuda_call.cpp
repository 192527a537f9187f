#include "device-runtime/cuda/cuda_call.h"

#include <algorithm>

#include "base/format.h"
#include "device-runtime/cuda/cuda_program.h"

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

CudaCall::~CudaCall() {
  const CudaApi& api = device_.api();
  for (const CuEvent event : events_) api.event_destroy(event);
  if (mark_ != nullptr) api.pinned_free(const_cast<unsigned*>(mark_));
  if (workspace_ != nullptr) device_.release(workspace_, bytes_);
}

Status CudaCall::prepare(CudaProgram& program, const FunctionInfo& function, std::span<const DeviceArgument> arguments,
                         const BoundCall& bound) {
  const CudaApi& api = device_.api();
  FERRY_ASSIGN(workspace_, device_.allocate(bytes_));
  FERRY_ASSIGN(bound_, bind_plan(function, arguments, bound, workspace_));
  result_ = result_place(function, workspace_);
  for (BoundLaunch& launch : bound_) {
    PreparedLaunch prepared;
    FERRY_ASSIGN(const CudaKernel kernel, program.kernel_for(function, launch));
    prepared.function = kernel.function;
    prepared.registers = kernel.registers;
    prepared.shared_bytes = kernel.shared_bytes;
    for (BoundOperand& operand : launch.operands) {
      prepared.parameters.push_back(operand.is_memory ? static_cast<void*>(&operand.memory) : &operand.bits);
    }
    launches_.push_back(std::move(prepared));
  }
  if (launches_.size() < 2) return {};
  void* mark = nullptr;
  CuResult error = api.pinned_take(&mark, sizeof *mark_, kDeviceMapped);
  if (error != kCuSuccess) return cuda_failure(api, "cuMemHostAlloc", error);
  mark_ = static_cast<unsigned*>(mark);
  error = api.pinned_address(&mark_address_, mark, 0);
  return error == kCuSuccess ? Status() : cuda_failure(api, "cuMemHostGetDevicePointer", error);
}

CuResult CudaCall::launch(std::size_t index) {
  const auto extent = [](std::uint64_t value) { return static_cast<unsigned>(value); };
  const BoundLaunch& bound = bound_[index];
  PreparedLaunch& prepared = launches_[index];
  return device_.api().launch(prepared.function, extent(bound.grid[0]), extent(bound.grid[1]), extent(bound.grid[2]),
                              extent(bound.block[0]), extent(bound.block[1]), extent(bound.block[2]),
                              extent(bound.shared_bytes), device_.stream(), prepared.parameters.data(), nullptr);
}

CuResult CudaCall::mark(std::size_t ended) {
  if (mark_ == nullptr) return kCuSuccess;
  return device_.api().set_words(mark_address_, static_cast<unsigned>(ended), 1, device_.stream());
}

CuResult CudaCall::launch_all(bool marked) {
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    CuResult error = launch(i);
    if (error == kCuSuccess && marked) error = mark(i + 1);
    if (error != kCuSuccess) return error;
  }
  return kCuSuccess;
}

std::int32_t CudaCall::run() {
  const bool marked = mark_ != nullptr;
  if (marked) *mark_ = 0;
  if (const CuResult error = launch_all(marked); error != kCuSuccess) return fail("cuLaunchKernel", error, marked);
  const CuResult error = device_.api().stream_wait(device_.stream());
  return error == kCuSuccess ? result() : fail("cuStreamSynchronize", error, marked);
}

std::int64_t CudaCall::clock_resolution_ns() const { return kEventResolutionNs; }

CuResult CudaCall::make_events(std::size_t count) {
  while (events_.size() < count) {
    CuEvent event = nullptr;
    if (const CuResult error = device_.api().event_create(&event, kCuEventDefault); error != kCuSuccess) return error;
    events_.push_back(event);
  }
  return kCuSuccess;
}

CuResult CudaCall::elapsed(std::size_t from, std::size_t to, std::int64_t& elapsed_ns) const {
  float milliseconds = 0;
  const CuResult error = device_.api().event_elapsed(&milliseconds, events_[from], events_[to]);
  elapsed_ns = static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6);
  return error;
}

std::int32_t CudaCall::sample(std::uint64_t calls, std::int64_t& elapsed_ns) {
  const CudaApi& api = device_.api();
  CuResult error = make_events(2);
  if (error != kCuSuccess) return fail("cuEventCreate", error, false);
  error = api.event_record(events_[0], device_.stream());
  for (std::uint64_t i = 0; i < calls && error == kCuSuccess; ++i) error = launch_all(false);
  if (error != kCuSuccess) return fail("cuLaunchKernel", error, false);
  error = api.event_record(events_[1], device_.stream());
  if (error == kCuSuccess) error = api.event_wait(events_[1]);
  if (error == kCuSuccess) error = elapsed(0, 1, elapsed_ns);
  return error == kCuSuccess ? result() : fail("cuEventSynchronize", error, false);
}

std::vector<StepTime> CudaCall::steps() const {
  std::vector<StepTime> steps;
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    const BoundLaunch& bound = bound_[i];
    steps.push_back({bound.kernel,
                     bound.grid,
                     bound.block,
                     bound.shared_bytes + static_cast<std::uint64_t>(launches_[i].shared_bytes),
                     static_cast<std::uint32_t>(launches_[i].registers),
                     {}});
  }
  return steps;
}

std::int32_t CudaCall::run_timed(std::span<std::int64_t> elapsed_ns) {
  const CudaApi& api = device_.api();
  const bool marked = mark_ != nullptr;
  if (marked) *mark_ = 0;
  CuResult error = make_events(2 * launches_.size());
  if (error != kCuSuccess) return fail("cuEventCreate", error, false);
  for (std::size_t i = 0; i < launches_.size() && error == kCuSuccess; ++i) {
    error = api.event_record(events_[2 * i], device_.stream());
    if (error == kCuSuccess) error = launch(i);
    if (error == kCuSuccess) error = api.event_record(events_[2 * i + 1], device_.stream());
    if (error == kCuSuccess) error = mark(i + 1);
  }
  if (error != kCuSuccess) return fail("cuLaunchKernel", error, marked);
  error = api.stream_wait(device_.stream());
  if (error != kCuSuccess) return fail("cuStreamSynchronize", error, marked);
  for (std::size_t i = 0; i < launches_.size() && error == kCuSuccess; ++i) {
    error = elapsed(2 * i, 2 * i + 1, elapsed_ns[i]);
  }
  return error == kCuSuccess ? result() : fail("cuEventElapsedTime", error, marked);
}

std::int32_t CudaCall::result() {
  if (result_ == nullptr) return 0;
  std::int32_t found = 0;
  failure_ = device_.read(result_, 0, {reinterpret_cast<std::uint8_t*>(&found), sizeof found});
  return failure_.is_ok() ? found : -1;
}

// Names the kernel that was running, or all of them if that is unknown.
std::string CudaCall::kernels(bool marked) const {
  if (marked && *mark_ < bound_.size()) return "kernel '" + bound_[*mark_].kernel + "'";
  std::string names;
  for (const BoundLaunch& launch : bound_) names += (names.empty() ? "'" : ", '") + launch.kernel + "'";
  return (bound_.size() == 1 ? "kernel " : "one of the kernels ") + names;
}

std::int32_t CudaCall::fail(const char* what, CuResult error, bool marked) {
  const CudaApi& api = device_.api();
  if (is_kernel_crash(error)) {
    failure_ = {ErrorCode::kernel_crashed,
                format("%s: %s ended the session with %s: %s", function_.c_str(), kernels(marked).c_str(),
                       cuda_error_text(api, error).c_str(), meaning(error))};
  } else {
    failure_ = cuda_failure(api, what, error);
  }
  return -1;
}

}  // namespace ferry::device
