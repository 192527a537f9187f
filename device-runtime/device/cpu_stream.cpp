#include "device-runtime/device/cpu_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ferry::device {
namespace {

// The workspaces of two threads never share a cache line, nor the pair of lines that some processors fetch together.
constexpr std::uint64_t kWorkspaceAlignment = 128;

void fill_pattern(const BoundFill& fill) {
  auto* to = static_cast<std::uint8_t*>(fill.to);
  for (std::uint64_t done = 0; done < fill.bytes; done += fill.pattern_bytes) {
    std::memcpy(to + done, &fill.pattern, fill.pattern_bytes);
  }
}

}  // namespace

const CpuKernel* find_kernel(const CpuKernels& kernels, const std::string& symbol) {
  const auto found =
      std::lower_bound(kernels.begin(), kernels.end(), symbol,
                       [](const CpuKernel& kernel, const std::string& wanted) { return kernel.symbol < wanted; });
  return found != kernels.end() && found->symbol == symbol ? &*found : nullptr;
}

Status CpuStream::grow_thread_workspaces(std::uint64_t bytes) {
  if (bytes == 0) return {};
  const std::uint64_t threads = context_.pool->threads();
  if (bytes > (UINT64_MAX - kWorkspaceAlignment) / threads - kWorkspaceAlignment) {
    return {ErrorCode::resource_exhausted, "the threads' workspaces are larger than any memory"};
  }
  const std::uint64_t stride = (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
  if (stride <= context_.thread_workspace_stride) return {};
  FERRY_ASSIGN(void* const memory, device_.allocate(stride * threads));
  device_.release(thread_workspaces_, thread_workspaces_bytes_);
  thread_workspaces_ = memory;
  thread_workspaces_bytes_ = stride * threads;
  context_.thread_workspaces = device_.host_address(memory);
  context_.thread_workspace_stride = stride;
  return {};
}

Status CpuStream::add(BoundNativeCall call) {
  FERRY_TRY(grow_thread_workspaces(call.thread_workspace));
  BoundStep& step = steps_.emplace_back();
  step.kernel = find_kernel(kernels_, *call.symbol);
  step.workspace = static_cast<std::uint8_t*>(call.workspace);
  step.operands = std::move(call.operands);
  step.pointers.reserve(step.operands.size());
  for (BoundOperand& operand : step.operands) {
    step.pointers.push_back(operand.is_memory ? operand.memory : &operand.bits);
  }
  return {};
}

Status CpuStream::add(BoundLaunch launch) {
  return {ErrorCode::unsupported, "kernel '" + launch.kernel + "': a CPU runs no launches"};
}

Status CpuStream::add(BoundCopy copy) {
  if (copy.bytes == 0) return add(BoundFill());
  BoundStep& step = steps_.emplace_back();
  step.from = copy.from;
  step.fill = {copy.to, copy.bytes, 1, 0};
  return {};
}

Status CpuStream::add(BoundFill fill) {
  steps_.emplace_back().fill = fill;
  return {};
}

std::int32_t CpuStream::set(std::size_t step, std::size_t operand, std::uint64_t to) {
  BoundStep& bound = steps_[step];
  void* const memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(to));
  if (bound.kernel == nullptr) {
    (operand == 0 ? bound.fill.to : bound.from) = memory;
  } else if (bound.operands[operand].is_memory) {
    bound.pointers[operand] = memory;
  } else {
    bound.operands[operand].bits = to;
  }
  return 0;
}

StepTime CpuStream::describe(std::size_t step) const {
  const BoundStep& bound = steps_[step];
  StepTime time;
  time.kind = bound.kernel != nullptr ? StepKind::call : bound.from != nullptr ? StepKind::copy : StepKind::fill;
  if (bound.kernel != nullptr) time.kernel = bound.kernel->symbol;
  return time;
}

std::int32_t CpuStream::run(std::size_t step, bool) {
  const BoundStep& bound = steps_[step];
  if (bound.kernel != nullptr) {
    context_.call_workspace = bound.workspace;
    return bound.kernel->kernel(bound.pointers.data(), &context_.api);
  }
  if (bound.from != nullptr) {
    std::memcpy(bound.fill.to, bound.from, static_cast<std::size_t>(bound.fill.bytes));
  } else {
    fill_pattern(bound.fill);
  }
  return 0;
}

Outcome CpuStream::run_all(std::size_t steps, std::uint64_t times, bool traced) {
  if (steps != 1 || steps_.front().kernel == nullptr) return Stream::run_all(steps, times, traced);
  // The loop around the only kernel contains nothing else, since it is part of what is measured.
  const BoundStep& bound = steps_.front();
  const ferry_kernel kernel = bound.kernel->kernel;
  void* const* const pointers = bound.pointers.data();
  context_.call_workspace = bound.workspace;
  std::int32_t result = 0;
  for (; times > 0 && result == 0; --times) result = kernel(pointers, &context_.api);
  return {result, 0};
}

}  // namespace ferry::device
