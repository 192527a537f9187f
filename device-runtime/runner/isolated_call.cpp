#include "device-runtime/runner/isolated_call.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "device-runtime/broker/messages.h"

namespace ferry::device {
namespace {

// Windows vary by about a tenth of this, so that samples of 1000 times as much are accurate.
constexpr std::int64_t kResolutionNs = 100;
constexpr std::size_t kOverheadWindows = 25;
// What a processor does between the stop of a thread and its sleep counts as the thread's.
constexpr std::int64_t kAccountedNs = 1'000'000;
// Beyond so much, a window contains time in which something else ran on its core.
constexpr std::int64_t kInterruptedNs = 20'000;

std::uint64_t lead_of(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t bytes_of_lists(const CallToIsolate& call, std::size_t operands) {
  return call.bound.symbols.size() * sizeof(std::int64_t) + operands * sizeof(SharedOperand);
}

IsolatedCall::End end_of(int wait_status, const Crash& crash) {
  if (WIFSIGNALED(wait_status)) return {WTERMSIG(wait_status), 0};
  const int exit_status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 1;
  const int number = crash.signal.load();
  if (number > 0 && exit_status == kEndedBySignal + number) return {number, 0};
  return {-1, exit_status};
}

}  // namespace

void IsolatedMemory::add(const CallToIsolate& call) {
  Call& added = calls_.emplace_back();
  const auto place = [&](const void* memory, std::uint64_t bytes, bool is_written) {
    SharedOperand& operand = added.operands.emplace_back();
    const std::uint64_t lead = lead_of(memory);
    operand.bytes = bytes;
    operand.is_written = is_written ? 1 : 0;
    if (bytes == 0) return;
    operand.part = layout_.add(bytes, lead);
    operand.offset = operand.part.offset + lead;
  };
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const DeviceArgument& argument = call.arguments[i];
    place(argument.memory, argument.is_scalar ? 0 : call.bound.tensor_bytes[i],
          call.function.parameters[i].direction != Direction::in);
    added.operands.back().is_scalar = argument.is_scalar ? 1 : 0;
    added.operands.back().scalar_bits = argument.scalar_bits;
  }
  added.argument_count = added.operands.size();
  for (const MemoryBlock& block : call.kept.persistent) place(block.memory, block.bytes, false);
  added.persistent_end = added.operands.size();
  for (const MemoryBlock& block : call.kept.constants)
    place(block.memory, block.memory == nullptr ? 0 : block.bytes, false);
  added.file = layout_.add(call.file.size());
  added.lists = layout_.add(bytes_of_lists(call, added.operands.size()));
  added.page = layout_.add(sizeof(RunnerPage));
}

template <class Visitor>
void IsolatedMemory::for_each_part(const Visitor& visit) const {
  for (const Call& call : calls_) {
    for (const SharedOperand& operand : call.operands) visit(operand.part);
    visit(call.file);
    visit(call.lists);
    visit(call.page);
  }
}

Status IsolatedMemory::map() {
  if (layout_.bytes() > isolation_.bytes) {
    return {ErrorCode::resource_exhausted, format("the tensors need %llu bytes of shared memory, there are %llu",
                                                  static_cast<unsigned long long>(layout_.bytes()),
                                                  static_cast<unsigned long long>(isolation_.bytes))};
  }
  std::uint64_t bytes = 0;
  for_each_part([&](const SharedPart& part) { bytes += part.bytes; });
  FERRY_TRY(budget_.take(bytes));
  charged_ = bytes;
  FERRY_ASSIGN(mapping_, SharedMapping::reserve(layout_.bytes()));
  Status status;
  for_each_part([&](const SharedPart& part) {
    if (status.is_ok()) status = mapping_.map(isolation_.object.number(), part, true);
  });
  FERRY_TRY(status);
  for (Call& call : calls_) {
    for (std::size_t i = 0; i < call.argument_count; ++i) {
      const SharedOperand& operand = call.operands[i];
      void* const memory = operand.bytes == 0 ? nullptr : mapping_.at(operand.offset);
      call.arguments.push_back({operand.is_scalar != 0, memory, operand.scalar_bits});
    }
  }
  return {};
}

IsolatedMemory::~IsolatedMemory() {
  if (charged_ == 0) return;
  for_each_part([&](const SharedPart& part) {
    if (part.bytes != 0) madvise(mapping_.at(part.offset), static_cast<std::size_t>(part.bytes), MADV_REMOVE);
  });
  budget_.give_back(charged_);
}

std::vector<MemoryBlock> IsolatedMemory::persistent(std::size_t number) const {
  const Call& call = calls_[number];
  std::vector<MemoryBlock> blocks;
  for (std::size_t i = call.argument_count; i < call.persistent_end; ++i)
    blocks.push_back({mapping_.at(call.operands[i].offset), call.operands[i].bytes, 0});
  return blocks;
}

void IsolatedMemory::copy_in(std::size_t number, const CallToIsolate& from) {
  Call& call = calls_[number];
  std::size_t next = 0;
  const auto copy = [&](const void* memory) {
    const SharedOperand& operand = call.operands[next++];
    if (operand.bytes != 0) std::memcpy(mapping_.at(operand.offset), memory, static_cast<std::size_t>(operand.bytes));
  };
  for (const DeviceArgument& argument : from.arguments) copy(argument.memory);
  for (const MemoryBlock& block : from.kept.persistent) copy(block.memory);
  for (const MemoryBlock& block : from.kept.constants) copy(block.memory);
  std::memcpy(mapping_.at(call.file.offset), from.file.data(), from.file.size());
  std::uint8_t* lists = mapping_.at(call.lists.offset);
  const std::size_t symbols = from.bound.symbols.size() * sizeof(std::int64_t);
  std::memcpy(lists, from.bound.symbols.data(), symbols);
  std::memcpy(lists + symbols, call.operands.data(), call.operands.size() * sizeof(SharedOperand));
}

void IsolatedMemory::copy_out(std::size_t number, const CallToIsolate& to) const {
  const Call& call = calls_[number];
  for (std::size_t i = 0; i < to.arguments.size(); ++i) {
    const SharedOperand& operand = call.operands[i];
    if (operand.bytes != 0 && operand.is_written != 0)
      std::memcpy(to.arguments[i].memory, mapping_.at(operand.offset), static_cast<std::size_t>(operand.bytes));
  }
}

Result<std::unique_ptr<IsolatedCall>> IsolatedCall::start(const Isolation& isolation, IsolatedMemory& memory,
                                                          std::size_t number, const CallToIsolate& call,
                                                          const RunnerOptions& options, std::uint64_t memory_bytes) {
  const IsolatedMemory::Call& shared = memory.calls_[number];
  FERRY_ASSIGN(RunnerProcess process, isolation.zygote.start_runner(memory_bytes));
  RunnerTask task;
  task.module = call.module;
  task.file = shared.file;
  task.lists = shared.lists;
  task.page = shared.page;
  task.file_bytes = call.file.size();
  task.mapped_bytes = memory.layout_.bytes();
  task.function = call.number;
  task.symbols = call.bound.symbols.size();
  task.arguments = call.arguments.size();
  task.persistent = call.kept.persistent.size();
  task.constants = call.kept.constants.size();
  task.memory_bytes = memory_bytes;
  task.threads = options.threads;
  task.core = options.core;
  RunnerReady ready;
  std::vector<Descriptor> received;
  const int object[] = {isolation.object.number()};
  const int socket = process.socket.number();
  const pid_t runner = process.process;
  if (!send_message(socket, bytes_of(task), object) || !receive_message(socket, writable_bytes_of(ready), received)) {
    ready.error_code = static_cast<std::int32_t>(ErrorCode::internal);
    ready.set_message("its process ended before it had loaded the module");
  }
  if (ready.error_code == 0 && (ready.counters > kCounterKinds || received.size() != ready.counters + 1)) {
    ready.error_code = static_cast<std::int32_t>(ErrorCode::resource_exhausted);
    ready.set_message("there are no descriptors left");
  }
  if (ready.error_code != 0) {
    isolation.zygote.end_runner(runner);
    ready.message[sizeof ready.message - 1] = 0;
    return Status(static_cast<ErrorCode>(ready.error_code), ready.message);
  }
  auto& page = *reinterpret_cast<RunnerPage*>(memory.mapping_.at(shared.page.offset));
  std::unique_ptr<IsolatedCall> isolated(new IsolatedCall(
      isolation, Windows(std::move(process), std::move(received.front()), ready.workers, page), page, options));
  std::vector<Counters::Open> counters;
  for (std::uint32_t i = 0; i < ready.counters; ++i) counters.push_back({received[i + 1].release(), ready.kinds[i]});
  isolated->counters_.adopt(std::move(counters), ready.counters_error);
  if (!isolated->windows_.begin() || !isolated->measure_overhead()) {
    return Status(ErrorCode::unsupported, "the system does not confine its process");
  }
  return isolated;
}

IsolatedCall::~IsolatedCall() {
  if (!ended_) isolation_.zygote.end_runner(windows_.process());
}

bool IsolatedCall::measure_overhead() {
  std::array<Window, kOverheadWindows> windows;
  for (Window& window : windows) {
    if (!windows_.open(0, window)) return false;
  }
  const auto median = [&](auto member) {
    std::ranges::nth_element(windows, windows.begin() + kOverheadWindows / 2, {}, member);
    return windows[kOverheadWindows / 2].*member;
  };
  overhead_ns_ = median(&Window::elapsed_ns);
  processor_overhead_ns_ = median(&Window::processor_ns);
  return true;
}

bool IsolatedCall::open(std::uint64_t calls, Window& window) {
  crash_of_runner.store(&page_.crash);
  const bool is_open = windows_.open(calls, window);
  crash_of_runner.store(nullptr);
  if (!is_open) {
    ended_ = end_of(isolation_.zygote.end_runner(windows_.process()), page_.crash);
    return false;
  }
  windows_ns_ += window.elapsed_ns;
  inside_ns_ += window.processor_ns;
  was_interrupted_ = options_.threads == 1 && window.elapsed_ns - window.processor_ns > overhead_ns_ + kInterruptedNs;
  return true;
}

std::int32_t IsolatedCall::run() {
  Window window;
  return open(1, window) ? window.result : -1;
}

std::int32_t IsolatedCall::sample(std::uint64_t calls, std::int64_t& elapsed_ns) {
  Window window;
  if (!open(calls, window)) return -1;
  const std::int64_t calls_ns =
      was_interrupted_ ? window.processor_ns - processor_overhead_ns_ : window.elapsed_ns - overhead_ns_;
  // A call that is shorter than the overhead varies still takes some time.
  elapsed_ns = std::max<std::int64_t>(calls_ns, 1);
  return window.result;
}

std::int64_t IsolatedCall::clock_resolution_ns() const { return kResolutionNs; }

Status IsolatedCall::check_processor_time() const {
  const std::int64_t most = windows_ns_ * static_cast<std::int64_t>(options_.threads);
  const bool ran_outside = windows_.outside_ns() > windows_ns_ / 100 + kAccountedNs;
  if (!ran_outside && inside_ns_ <= most + most / 100 + kAccountedNs) return {};
  return {ErrorCode::kernel_crashed,
          format("the kernel's process took %.3f ms of processor time in windows of %.3f ms, and %.3f ms outside of "
                 "them: the times say nothing",
                 static_cast<double>(inside_ns_) * 1e-6, static_cast<double>(windows_ns_) * 1e-6,
                 static_cast<double>(windows_.outside_ns()) * 1e-6)};
}

std::string IsolatedCall::take_printed() {
  const std::size_t length = std::min<std::size_t>(page_.printed_bytes.exchange(0), sizeof page_.printed);
  return {page_.printed, length};
}

}  // namespace ferry::device
