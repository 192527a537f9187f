// Measures windows in which a runner makes no calls, which is what measuring from outside costs each sample: with one
// thread and with all that the machine has, for each way in which a judge learns that the runner has stopped. Prints a
// table in Markdown.
//
//   ferry_window_bench

#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/seccomp_program.h"
#include "base/throw_status.h"
#include "bench/support/comparison.h"
#include "device-runtime/measure/clock.h"
#include "device-runtime/runner/isolated_call.h"
#include "device-runtime/runner/zygote_server.h"
#include "ferry/bench/method.h"
#include "ferry/compile.h"
#include "module/module_file.h"

namespace {

using namespace ferry;
using namespace ferry::device;

constexpr std::size_t kWindows = 5000;
constexpr std::uint64_t kMemory = 256 << 20;

// From now on another listener receives system calls of this process, as in containers with an agent, so that a runner
// can have none; nor a tracer, if that is refused.
void add_agent(bool allows_tracing) {
  SeccompProgram<16> program;
  program.answer_call(__NR_acct, program.kNotify);
  if (!allows_tracing) program.answer_call(__NR_ptrace, program.kRefuse);
  program.answer(program.kAllow);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || program.install_with_listener(0) < 0)
    throw std::runtime_error("this system has no seccomp notifications");
}

Zygote start_zygote(std::uint32_t threads) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("no sockets");
  if (fork() == 0) {
    close(ends[0]);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    run_zygote(ends[1], kMemory, threads);
  }
  close(ends[1]);
  return Zygote(Descriptor(ends[0]));
}

// A call of a parallel loop that adds 1 to each element.
struct Call {
  CompiledModule compiled =
      compile("def more(float(N) A) -> (B) { B(i) = A(i) + 1.0 }", target("host"), ScheduleText{"parallel i"});
  Hash hash{};
  ModuleFile module = value_or_throw(read_module(compiled.bytes()));
  std::vector<float> in = std::vector<float>(100'000), out = std::vector<float>(100'000);
  std::vector<ArgumentShape> shapes = {{ParameterKind::tensor, DType::f32, {100'000}},
                                       {ParameterKind::tensor, DType::f32, {100'000}}};
  BoundCall bound = value_or_throw(bind_call(function(), shapes));
  std::vector<DeviceArgument> arguments = {{false, in.data(), 0}, {false, out.data(), 0}};

  const FunctionInfo& function() const { return module.manifest.functions.at(0); }
  CallToIsolate to_isolate() const { return {hash, compiled.bytes(), function(), 0, bound, arguments, {}}; }
};

void print_row(const std::string& kind, std::uint32_t threads, std::vector<std::int64_t> nanoseconds) {
  std::ranges::sort(nanoseconds);
  const auto at = [&](double share) {
    return static_cast<double>(nanoseconds[static_cast<std::size_t>(share * static_cast<double>(nanoseconds.size()))]) *
           1e-3;
  };
  std::printf("| %s | %u | %.2f | %.2f to %.2f |\n", kind.c_str(), threads, at(0.5), at(0.05), at(0.95));
  std::fflush(stdout);
}

// Windows of a runner whose threads have all been used.
void measure_windows(TimingIsolation way, std::uint32_t threads) {
  if (way != TimingIsolation::notify) add_agent(way == TimingIsolation::trace);
  const Isolation isolation{start_zygote(threads),
                            std::make_unique<SharedMemory>(make_shared_object(kMemory), kMemory)};
  // The judge shares a core with the runner's first thread; its other threads may run elsewhere.
  const int core = sched_getcpu();
  bench::pin_to_cpu(core);
  const Call call;
  MemoryBudget budget(kMemory);
  IsolatedMemory memory(isolation, budget);
  const std::size_t number = value_or_throw(memory.add(call.to_isolate(), 1));
  throw_failure(memory.map());
  memory.copy_in(number, call.to_isolate());
  const auto runner =
      value_or_throw(IsolatedCall::start(isolation, memory, number, call.to_isolate(), {threads, core}, kMemory / 2));
  if (runner->run() != 0) throw std::runtime_error("the kernel failed");
  std::vector<std::int64_t> windows;
  for (std::size_t i = 0; i < kWindows; ++i) {
    Window window;
    if (!runner->open_empty(window)) throw std::runtime_error("the runner ended");
    windows.push_back(window.elapsed_ns);
  }
  if (runner->method() != way) throw std::runtime_error("this system does not have " + bench::to_text(way));
  print_row(bench::to_text(way), threads, std::move(windows));
}

// A sample without calls in the process that takes the time.
void measure_clock() {
  struct Nothing : Workload {
    std::int32_t run() override { return 0; }
  } nothing;
  std::vector<std::int64_t> windows;
  for (std::size_t i = 0; i < kWindows; ++i) {
    std::int64_t beyond_ns = 0;
    nothing.sample(0, beyond_ns);
    windows.push_back(clock_overhead_ns() + beyond_ns);
  }
  print_row("none", 1, std::move(windows));
}

// Runs the work in a process of its own, whose filters end with it.
template <class Work>
void apart(const Work& work) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    try {
      work();
      std::fflush(stdout);
      _exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "ferry_window_bench: %s\n", error.what());
      _exit(1);
    }
  }
  waitpid(child, nullptr, 0);
}

}  // namespace

int main() {
  if (!can_isolate()) {
    std::fprintf(stderr, "ferry_window_bench: this system cannot confine processes\n");
    return 1;
  }
  std::printf("| isolation | threads | median, us | 5%% to 95%% |\n| --- | --- | --- | --- |\n");
  const std::uint32_t cores = std::max(2U, std::thread::hardware_concurrency());
  for (const TimingIsolation way : {TimingIsolation::notify, TimingIsolation::trace, TimingIsolation::pipe})
    for (const std::uint32_t threads : {1U, cores}) apart([&] { measure_windows(way, threads); });
  measure_clock();
  return 0;
}
