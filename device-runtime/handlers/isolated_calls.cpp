#include "device-runtime/handlers/isolated_calls.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/format.h"

namespace ferry::device {
namespace {

constexpr std::size_t kMaxCores = 64;
// Runners read copies of a function's packed constants.
constexpr std::uint64_t kMostKeptBytes = 4 << 20;

// Returns the core on which judge and runner take turns, which is faster than to wake another one: the one on which
// this process is, or if it may use faster ones, the first of those. -1: unknown.
std::int32_t shared_core(const FileBroker& broker) {
  cpu_set_t allowed;
  const int here = sched_getcpu();
  if (here < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0 || !CPU_ISSET(here, &allowed)) return -1;
  std::vector<std::int32_t> cores{here};
  for (std::int32_t core = 0; core < CPU_SETSIZE && cores.size() < kMaxCores; ++core)
    if (core != here && CPU_ISSET(core, &allowed)) cores.push_back(core);
  std::vector<std::string> paths;
  for (const std::int32_t core : cores) paths.push_back(format("/sys/devices/system/cpu/cpu%d/cpu_capacity", core));
  const std::vector<std::string> texts = broker.texts(paths);
  long most = 0;
  std::int32_t fastest = here;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const long capacity = std::strtol(texts[i].c_str(), nullptr, 10);
    if (capacity > most) fastest = cores[i];
    most = std::max(most, capacity);
  }
  return fastest;
}

}  // namespace

CallToIsolate IsolatedCalls::described(std::size_t call) const {
  const CheckedCall& checked = *calls_[call];
  return {checked.module->hash, *checked.module->file, checked.info(), checked.function,
          checked.bound,        named_[call],          checked.kept()};
}

std::string IsolatedCalls::start(std::span<CheckedCall* const> calls, std::uint32_t threads) {
  const Isolation& isolation = state_.access.isolation;
  if (!isolation.zygote.exists()) return isolation.missing;
  for (const CheckedCall* call : calls) {
    const std::vector<Device*>& devices = call->module->devices;
    if (devices.size() != 1 || !devices.front()->uses_host_memory()) return "another device than the CPU runs it";
    if (call->module->file == nullptr) return "the session has no memory for a second copy of the module";
    std::uint64_t kept_bytes = 0;
    for (const MemoryBlock& block : call->kept().persistent) kept_bytes += block.bytes;
    for (const MemoryBlock& block : call->kept().constants) kept_bytes += block.memory == nullptr ? 0 : block.bytes;
    if (kept_bytes > kMostKeptBytes) return "its packed constants would take much memory twice";
  }
  const Status started = try_start(calls, threads);
  if (started.is_ok()) return {};
  workloads_.clear();
  for (std::size_t i = 0; i < calls_.size(); ++i) calls_[i]->arguments = named_[i];
  return started.message();
}

Status IsolatedCalls::try_start(std::span<CheckedCall* const> calls, std::uint32_t threads) {
  calls_.assign(calls.begin(), calls.end());
  for (const CheckedCall* call : calls_) named_.push_back(call->arguments);
  for (std::size_t i = 0; i < calls_.size(); ++i) memory_.add(described(i));
  FERRY_TRY(memory_.map());
  const std::uint64_t memory_bytes = (state_.budget.limit() - state_.budget.used()) / calls_.size();
  const RunnerOptions options{threads, threads == 1 ? shared_core(state_.access.broker) : -1};
  if (options.core >= 0) FERRY_TRY(pinning_.move_to({static_cast<std::uint32_t>(options.core)}));
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const CallToIsolate call = described(i);
    memory_.copy_in(i, call);
    FERRY_ASSIGN(auto workload, IsolatedCall::start(state_.access.isolation, memory_, i, call, options, memory_bytes));
    workloads_.push_back(std::move(workload));
  }
  for (std::size_t i = 0; i < calls_.size(); ++i) calls_[i]->arguments = memory_.arguments(i);
  return {};
}

void IsolatedCalls::copy_out() const {
  for (std::size_t i = 0; i < workloads_.size(); ++i) memory_.copy_out(i, described(i));
}

void IsolatedCalls::end_like_runner(Activity& activity) const {
  for (const auto& workload : workloads_) {
    if (!workload->ended()) continue;
    const std::string printed = workload->take_printed();
    activity.printed.append(printed.data(), printed.size());
    const int number = workload->ended()->signal;
    if (number < 0) _exit(workload->ended()->exit_status);
    if (workload->crash().signal.load() == number) copy_crash(activity.crash, workload->crash());
    signal(number, SIG_DFL);
    kill(getpid(), number);
    _exit(1);
  }
}

Status IsolatedCalls::check_processor_time() const {
  for (const auto& workload : workloads_) FERRY_TRY(workload->check_processor_time());
  return {};
}

std::string IsolatedCalls::take_printed() {
  std::string printed;
  for (const auto& workload : workloads_) printed += workload->take_printed();
  return printed;
}

}  // namespace ferry::device
