#include "device-runtime/runner/isolated_call.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/format.h"
#include "device-runtime/broker/messages.h"

namespace ferry::device {
namespace {

// Windows vary by about a tenth of this, so that samples of 1000 times as much are accurate.
constexpr std::int64_t kResolutionNs = 100;
constexpr std::size_t kMostOverheadWindows = 500;
// What a processor does between the stop of a thread and its sleep counts as the thread's.
constexpr std::int64_t kAccountedNs = 1'000'000;
// Beyond so much, a window contains time in which something else ran on its core.
constexpr std::int64_t kInterruptedNs = 20'000;

IsolatedCall::End end_of(int wait_status, const Crash& crash) {
  if (WIFSIGNALED(wait_status)) return {WTERMSIG(wait_status), 0};
  const int exit_status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 1;
  const int number = crash.signal.load();
  if (number > 0 && exit_status == kEndedBySignal + number) return {number, 0};
  return {-1, exit_status};
}

// Learns how the threads of a new runner stop, and gives it a tracer if it needs one and the system allows that.
bool agree_on_way(const Zygote& zygote, const RunnerProcess& runner, std::int32_t core, StopWay& way) {
  std::vector<Descriptor> none;
  if (!receive_message(runner.socket.number(), writable_bytes_of(way), none)) return false;
  if (way == StopWay::listener) return true;
  way = zygote.trace_runner(runner.process, core) ? StopWay::tracer : StopWay::sockets;
  return send_message(runner.socket.number(), bytes_of(way));
}

std::unique_ptr<Stops> make_stops(StopWay way, std::vector<Descriptor>& received, pid_t runner,
                                  std::unique_ptr<TracedStops> traced) {
  switch (way) {
    case StopWay::listener: return std::make_unique<ReportedStops>(std::move(received[0]), runner);
    case StopWay::tracer: return traced;
    case StopWay::sockets: break;
  }
  return std::make_unique<ToldStops>(std::array{std::move(received[0]), std::move(received[1])});
}

TimingIsolation method_of(StopWay way) {
  switch (way) {
    case StopWay::listener: return TimingIsolation::notify;
    case StopWay::tracer: return TimingIsolation::trace;
    case StopWay::sockets: break;
  }
  return TimingIsolation::pipe;
}

std::size_t descriptors_of(StopWay way) { return way == StopWay::listener ? 1 : way == StopWay::sockets ? 2 : 0; }

RunnerTask task_of(const IsolatedMemory& memory, const IsolatedMemory::Call& shared, const CallToIsolate& call,
                   const RunnerOptions& options, std::uint64_t memory_bytes) {
  RunnerTask task;
  task.module = call.module;
  task.file = shared.file;
  task.lists = shared.lists;
  task.page = shared.page;
  task.file_bytes = call.file.size();
  task.mapped_bytes = memory.end();
  task.function = call.number;
  task.is_init = call.init != nullptr ? 1 : 0;
  task.symbols = call.bound.symbols.size();
  task.sets = shared.sets;
  task.others = shared.others;
  task.arguments = shared.arguments;
  task.persistent = shared.persistent;
  task.constants = shared.constants;
  task.memory_bytes = memory_bytes;
  task.threads = options.threads;
  task.core = options.core;
  return task;
}

}  // namespace

Result<std::unique_ptr<IsolatedCall>> IsolatedCall::start(const Isolation& isolation, const IsolatedMemory& memory,
                                                          std::size_t number, const CallToIsolate& call,
                                                          const RunnerOptions& options, std::uint64_t memory_bytes) {
  const IsolatedMemory::Call& shared = memory.call(number);
  FERRY_ASSIGN(RunnerProcess process, isolation.zygote.start_runner(memory_bytes));
  const RunnerTask task = task_of(memory, shared, call, options, memory_bytes);
  RunnerReady ready;
  std::vector<Descriptor> received;
  const int object[] = {isolation.memory->object()};
  const int socket = process.socket.number();
  const pid_t runner = process.process;
  StopWay way = StopWay::listener;
  bool is_alive =
      agree_on_way(isolation.zygote, process, options.core, way) && send_message(socket, bytes_of(task), object);
  std::unique_ptr<TracedStops> traced;
  if (is_alive && way == StopWay::tracer) {
    traced = std::make_unique<TracedStops>(isolation.zygote, runner);
    traced->wait_for_first();
  }
  is_alive = is_alive && receive_message(socket, writable_bytes_of(ready), received);
  if (!is_alive) {
    ready.error_code = static_cast<std::int32_t>(ErrorCode::internal);
    ready.set_message("its process ended before it had loaded the module");
  }
  const std::size_t ends = descriptors_of(way);
  if (ready.error_code == 0 && (ready.counters > kCounterKinds || received.size() != ends + ready.counters)) {
    ready.error_code = static_cast<std::int32_t>(ErrorCode::resource_exhausted);
    ready.set_message("there are no descriptors left");
  }
  if (ready.error_code != 0) {
    isolation.zygote.end_runner(runner);
    ready.message[sizeof ready.message - 1] = 0;
    return Status(static_cast<ErrorCode>(ready.error_code), ready.message);
  }
  auto& page = *reinterpret_cast<RunnerPage*>(memory.mapping().at(shared.page.offset));
  std::unique_ptr<Stops> stops = make_stops(way, received, runner, std::move(traced));
  std::unique_ptr<IsolatedCall> isolated(new IsolatedCall(
      isolation, Windows(std::move(process), std::move(stops), ready.workers, page), page, options, method_of(way)));
  std::vector<Counters::Open> counters;
  for (std::uint32_t i = 0; i < ready.counters; ++i) counters.push_back({received[ends + i].release(), ready.kinds[i]});
  isolated->counters_.adopt(std::move(counters), ready.counters_error);
  if (!isolated->windows_.begin() || !isolated->measure_overhead(options.empty_windows)) {
    return Status(ErrorCode::unsupported, "the system does not confine its process");
  }
  return isolated;
}

IsolatedCall::~IsolatedCall() {
  if (ended_) return;
  // Whoever tells that a thread has stopped may lie, and what runs on may write to memory that others get.
  if (windows_.are_held()) {
    isolation_.zygote.kill_runner(windows_.process());
  } else {
    isolation_.zygote.end_runner(windows_.process());
  }
}

bool IsolatedCall::measure_overhead(std::size_t count) {
  std::vector<Window> windows;
  Window shortest;
  for (std::size_t i = 0; i < kMostOverheadWindows && windows.size() < count; ++i) {
    Window window;
    if (!open_empty(window)) return false;
    if (i == 0 || window.elapsed_ns < shortest.elapsed_ns) shortest = window;
    if (window.elapsed_ns < kInterruptedNs) windows.push_back(window);
  }
  // A slow board needs longer.
  if (windows.empty()) windows.push_back(shortest);
  const auto median = [&](auto member) {
    const auto middle = windows.begin() + static_cast<std::ptrdiff_t>(windows.size() / 2);
    std::ranges::nth_element(windows, middle, {}, member);
    return *middle.*member;
  };
  overhead_ns_ = median(&Window::elapsed_ns);
  processor_overhead_ns_ = median(&Window::processor_ns);
  return true;
}

bool IsolatedCall::open(std::uint64_t calls, std::size_t first, Exchange exchange, Window& window) {
  page_.first_set.store(static_cast<std::uint32_t>(first));
  page_.other.store(static_cast<std::uint32_t>(exchange.other));
  page_.other_at.store(static_cast<std::uint32_t>(exchange.at));
  crash_of_runner.store(&page_.crash);
  const bool is_open = windows_.open(calls, window);
  crash_of_runner.store(nullptr);
  if (!is_open) {
    ended_ = end_of(isolation_.zygote.end_runner(windows_.process()), page_.crash);
    return false;
  }
  windows_ns_ += window.elapsed_ns;
  inside_ns_ += window.processor_ns;
  was_interrupted_ =
      !windows_.uses_threads() && window.elapsed_ns - window.processor_ns > overhead_ns_ + kInterruptedNs;
  return true;
}

std::int32_t IsolatedCall::run() {
  Window window;
  return open(1, 0, {}, window) ? window.result : -1;
}

std::int32_t IsolatedCall::sample(std::uint64_t calls, std::int64_t& elapsed_ns) {
  return sample(calls, 0, elapsed_ns);
}

std::int32_t IsolatedCall::sample(std::uint64_t calls, std::size_t first, Exchange exchange, std::int64_t& elapsed_ns) {
  Window window;
  if (!open(calls, first, exchange, window)) return -1;
  const std::int64_t calls_ns =
      was_interrupted_ ? window.processor_ns - processor_overhead_ns_ : window.elapsed_ns - overhead_ns_;
  // A call that is shorter than the overhead varies still takes some time.
  elapsed_ns = std::max<std::int64_t>(calls_ns, 1);
  return window.result;
}

std::int64_t IsolatedCall::clock_resolution_ns() const { return kResolutionNs; }

Status IsolatedCall::check_processor_time() const {
  if (windows_.has_lied()) {
    return {ErrorCode::kernel_crashed,
            "the kernel's process said that it had stopped while it was stopped: the times say nothing"};
  }
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
