#include "device-runtime/runner/runner.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "device-runtime/broker/messages.h"
#include "device-runtime/device/cpu_device.h"
#include "device-runtime/device/shared_memory.h"
#include "device-runtime/plan/plan_call.h"
#include "device-runtime/runner/notify.h"
#include "device-runtime/runner/task.h"
#include "device-runtime/sandbox/filter.h"
#include "device-runtime/threads/float_mode.h"
#include "device-runtime/threads/futex.h"
#include "device-runtime/threads/signal_stack.h"

namespace ferry::device {
namespace {

// Global because a signal handler has no argument for it.
Crash* shared = nullptr;

// No system call that would end the process by the signal is left to it.
void on_crash(int number, siginfo_t* info, void* context) {
  if (!record_crash(*shared, number, *info, context)) {
    // Another thread has crashed and is recording that. It may have been stopped, so the wait has an end.
    for (int round = 0; round < 100'000'000 && shared->signal.load() == 0; ++round) spin_pause();
  }
  _exit(kEndedBySignal + number);
}

void note_crashes(Crash& crash) {
  shared = &crash;
  struct sigaction action{};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGTERM, SIGXCPU}) {
    sigaction(number, &action, nullptr);
  }
}

// Global because the pool's functions have no argument for it.
RunnerPage* released_page = nullptr;

void stop_for_threads() {
  released_page->wants_threads.store(1);
  stop(StoppingThread::first);
  released_page->wants_threads.store(0);
}

// The calls of one function with their memory.
class Runner {
 public:
  Runner(const RunnerTask& task, Descriptor memory)
      : task_(task), object_(std::move(memory)), budget_(task.memory_bytes), device_({}, task.threads, budget_) {}
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Loads the module, and leaves in the process nothing but it and its tensors. The filter of a session applies.
  Status prepare() {
    FERRY_ASSIGN(mapping_, SharedMapping::reserve({0, task_.mapped_bytes}));
    FERRY_TRY(mapping_.map(object_.number(), task_.page, true));
    FERRY_TRY(mapping_.map(object_.number(), task_.lists, false));
    FERRY_TRY(mapping_.map(object_.number(), task_.file, false));
    // Without what the constructor leaves as it is, which the system has zeroed.
    page_ = new (mapping_.at(task_.page.offset)) RunnerPage;
    device_.printed().use({page_->printed, sizeof page_->printed}, page_->printed_bytes);
    const std::uint8_t* file = mapping_.at(task_.file.offset);
    FERRY_ASSIGN(module_, read_module_again({file, static_cast<std::size_t>(task_.file_bytes)}));
    FERRY_ASSIGN(program_, device_.load(module_, task_.module));
    FERRY_TRY(prepare_calls());
    FERRY_TRY(mapping_.unmap(task_.file));
    FERRY_TRY(mapping_.unmap(task_.lists));
    object_ = Descriptor();
    note_crashes(page_->crash);
    return {};
  }

  // The threads after what is to count them and to notice when they stop.
  unsigned start_workers() {
    released_page = page_;
    return device_.pool().start_parked([] { stop(StoppingThread::other); }, stop_for_threads);
  }

  [[noreturn]] void run_windows() {
    while (true) {
      stop(StoppingThread::first);
      if (page_->runs_threads.load() != 0) device_.pool().workers_were_released();
      page_->result.store(run_calls(page_->calls.load(), page_->first_set.load()));
      mode_.restore();
      device_.pool().park_workers();
    }
  }

 private:
  std::int32_t run_calls(std::uint64_t calls, std::size_t set) {
    if (task_.is_init != 0) return calls_.front()->run_alone(set);
    const std::uint32_t other = page_->other.load(), at = page_->other_at.load();
    if (task_.sets == 1 && other == 0) return calls == 0 ? 0 : calls_.front()->run_calls(calls);
    const auto exchange = [&] {
      if (other != 0) calls_[at].swap(calls_[task_.sets + other - 1]);
    };
    exchange();
    std::int32_t result = 0;
    for (; calls > 0 && result == 0; --calls) {
      result = calls_[set]->run_calls(1);
      if (++set == task_.sets) set = 0;
    }
    exchange();
    return result;
  }

  Status prepare_calls() {
    if (task_.function >= module_.manifest.functions.size() || task_.sets == 0)
      return {ErrorCode::internal, "no such function"};
    const std::uint8_t* at = mapping_.at(task_.lists.offset);
    // That of all sets, and those of other sizes.
    std::vector<BoundCall> bounds(static_cast<std::size_t>(1 + task_.others));
    for (BoundCall& bound : bounds) {
      bound.symbols.resize(static_cast<std::size_t>(task_.symbols));
      std::memcpy(bound.symbols.data(), at, task_.symbols * sizeof(std::int64_t));
      at += task_.symbols * sizeof(std::int64_t);
    }
    const auto bound_of = [&](std::size_t set) -> BoundCall& {
      return bounds[set < task_.sets ? 0 : set - static_cast<std::size_t>(task_.sets) + 1];
    };
    std::vector<std::vector<DeviceArgument>> sets(static_cast<std::size_t>(task_.sets + task_.others));
    for (std::size_t set = 0; set < sets.size(); ++set) {
      std::vector<DeviceArgument>& arguments = sets[set];
      BoundCall& bound = bound_of(set);
      bound.tensor_bytes.clear();
      for (std::uint64_t i = 0; i < task_.arguments; ++i) {
        FERRY_ASSIGN(const MemoryBlock block, next(at, arguments));
        bound.tensor_bytes.push_back(block.bytes);
      }
    }
    for (std::uint64_t i = 0; i < task_.persistent; ++i) {
      FERRY_ASSIGN(persistent_.emplace_back(), next(at, unused_));
    }
    for (std::uint64_t i = 0; i < task_.constants; ++i) {
      FERRY_ASSIGN(constants_.emplace_back(), next(at, unused_));
    }
    const FunctionInfo& function = module_.manifest.functions[task_.function];
    const KeptMemory kept{persistent_, constants_};
    for (std::size_t set = 0; set < sets.size(); ++set) {
      const std::vector<DeviceArgument>& arguments = sets[set];
      const BoundCall& bound = bound_of(set);
      FERRY_ASSIGN(calls_.emplace_back(),
                   task_.is_init != 0 ? PlanCall::prepare_init(devices_, *program_, function, arguments, bound, kept)
                                      : PlanCall::prepare(devices_, *program_, function, arguments, bound, kept));
    }
    if (task_.is_init != 0 && !calls_.front()->has_all_steps(function.init))
      return {ErrorCode::unsupported, "the steps of the init plan cannot run one by one"};
    return {};
  }

  // Maps the next operand.
  Result<MemoryBlock> next(const std::uint8_t*& at, std::vector<DeviceArgument>& arguments) {
    SharedOperand operand;
    std::memcpy(&operand, at, sizeof operand);
    at += sizeof operand;
    MemoryBlock block;
    if (operand.is_scalar == 0 && operand.bytes != 0) {
      FERRY_TRY(mapping_.map(object_.number(), operand.part, operand.is_written != 0, true));
      block = {mapping_.at(operand.offset), operand.bytes, 0};
    }
    arguments.push_back({operand.is_scalar != 0, block.memory, operand.scalar_bits});
    return block;
  }

  const FloatMode mode_;  // in which each window begins
  const RunnerTask& task_;
  Descriptor object_;
  SharedMapping mapping_;
  RunnerPage* page_ = nullptr;
  MemoryBudget budget_;
  CpuDevice device_;
  Device* const devices_[1] = {&device_};
  ModuleFile module_;
  std::unique_ptr<Program> program_;
  std::vector<MemoryBlock> persistent_, constants_;
  std::vector<DeviceArgument> unused_;
  std::vector<std::unique_ptr<PlanCall>> calls_;  // one for each set of arguments, then those of other sizes
};

// A runner has this before its task comes, and nothing here depends on the task.
struct Confinement {
  SignalStack signal_stack;
  StopSockets sockets = StopSockets::open();  // before the filter, which refuses them
  Status status;
  Counters counters;
  Descriptor listener;
  StopWay way = StopWay::listener;

  Confinement() {
    if (const std::string why = install_filter(Filter::runner); !why.empty()) {
      status = {ErrorCode::unsupported, "seccomp: " + why};
      return;
    }
    counters.open();
    listener = Descriptor(open_listener());
    if (listener.number() < 0 && sockets.judges[1].number() < 0)
      status = {ErrorCode::resource_exhausted, "there are no descriptors left"};
  }

  // Says how the threads can stop. Where they need a tracer, the zygote may look into this process until it is one, and
  // so may others of this user; it holds nothing yet.
  void agree_on_way(int socket) {
    const int was_dumpable = prctl(PR_GET_DUMPABLE);
    if (status.is_ok() && listener.number() < 0) {
      way = StopWay::tracer;
      prctl(PR_SET_DUMPABLE, 1);
    }
    if (!send_message(socket, bytes_of(way))) _exit(0);
    if (way == StopWay::listener) return;
    std::vector<Descriptor> none;
    if (!receive_message(socket, writable_bytes_of(way), none)) _exit(0);
    // It may have been 2, as fs.suid_dumpable says after a change of user, which nobody can set.
    prctl(PR_SET_DUMPABLE, was_dumpable == 1 ? 1 : 0);
    if (way == StopWay::tracer && !report_stops_to_tracer()) _exit(0);
  }

  // Returns the descriptors that come with the answer.
  std::vector<int> describe(RunnerReady& ready) {
    std::vector<int> sent;
    if (way == StopWay::sockets) {
      use_sockets(sockets.own);
      for (Descriptor& end : sockets.judges) sent.push_back(end.release());
    } else {
      sockets = {};
      if (way == StopWay::listener) sent.push_back(listener.release());
    }
    ready.counters_error = counters.error();
    for (const Counters::Open& counter : counters.opened()) {
      ready.kinds[ready.counters++] = counter.kind;
      sent.push_back(counter.file);
    }
    return sent;
  }
};

RunnerReady refusal(const Status& why) {
  RunnerReady ready;
  ready.error_code = static_cast<std::int32_t>(why.code());
  ready.set_message(why.message());
  return ready;
}

}  // namespace

void stay_on(std::int32_t core) {
  if (core < 0) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

void run_runner(int socket) {
  Confinement confinement;
  confinement.agree_on_way(socket);
  RunnerTask task;
  std::vector<Descriptor> received;
  if (!receive_message(socket, writable_bytes_of(task), received) || received.size() != 1) _exit(0);
  Runner runner(task, std::move(received.front()));
  const Status status = confinement.status.is_ok() ? runner.prepare() : confinement.status;
  if (!status.is_ok()) {
    send_message(socket, bytes_of(refusal(status)));
    _exit(0);
  }
  RunnerReady ready;
  const std::vector<int> sent = confinement.describe(ready);
  ready.workers = runner.start_workers();
  stay_on(task.core);  // the workers may run elsewhere
  if (!send_message(socket, bytes_of(ready), sent)) _exit(0);
  for (const int descriptor : sent) close(descriptor);
  if (!leave_only_notices()) _exit(0);
  runner.run_windows();
}

}  // namespace ferry::device
