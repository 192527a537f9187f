#include "device-runtime/handlers/isolated_calls.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>

#include "base/format.h"
#include "device-runtime/handlers/ended_runner.h"

namespace ferry::device {
namespace {

constexpr std::uint32_t kMaxCores = 64;
// More sets would not make the overhead of a window smaller than it varies.
constexpr std::uint64_t kMostSets = 64;

// Returns how fast each core is compared with others, as far as the system knows that; 0: unknown. The session asks
// once.
const std::vector<long>& core_capacities(SessionState& state) {
  std::vector<long>& capacities = state.access.isolation.core_capacities;
  if (!capacities.empty()) return capacities;
  std::vector<std::string> paths;
  for (std::uint32_t core = 0; core < std::min(state.facts.logical_cores, kMaxCores); ++core)
    paths.push_back(format("/sys/devices/system/cpu/cpu%u/cpu_capacity", core));
  for (const std::string& text : state.access.broker.texts(paths))
    capacities.push_back(std::strtol(text.c_str(), nullptr, 10));
  return capacities;
}

// Returns the core on which judge and runner take turns, which is faster than to wake another one: the one on which
// this process is, or if it may use faster ones, the first of those. -1: unknown.
std::int32_t shared_core(SessionState& state) {
  cpu_set_t allowed;
  const int here = sched_getcpu();
  if (here < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0 || !CPU_ISSET(here, &allowed)) return -1;
  const std::vector<long>& capacities = core_capacities(state);
  const auto capacity = [&](int core) {
    return static_cast<std::size_t>(core) < capacities.size() ? capacities[static_cast<std::size_t>(core)] : 0;
  };
  std::int32_t fastest = here;
  for (std::int32_t core = 0; static_cast<std::size_t>(core) < capacities.size(); ++core)
    if (CPU_ISSET(core, &allowed) && capacity(core) > capacity(fastest)) fastest = core;
  return fastest;
}

// Returns how many bytes a core has for itself in its second cache; 0: unknown.
std::uint64_t second_cache_bytes(const DeviceFacts& facts) {
  for (const CacheFacts& cache : facts.caches)
    if (cache.level == 2) return cache.bytes;
  return 0;
}

}  // namespace

const char* why_not_isolated(const SessionState& state, const Module& module) {
  const Isolation& isolation = state.access.isolation;
  if (!isolation.zygote.exists()) return isolation.missing;
  if (module.devices.size() != 1 || !module.devices.front()->uses_host_memory())
    return "another device than the CPU runs it";
  return module.file == nullptr ? "the session has no memory for a second copy of the module" : "";
}

CallToIsolate IsolatedCalls::described(std::size_t call, bool has_twin) const {
  const CheckedCall& checked = *calls_[call].call;
  CallToIsolate described{checked.module->hash, *checked.module->file, checked.info(), checked.function,
                          checked.bound,        named_[call],          checked.kept()};
  if (has_twin) described.others = calls_[call].others;
  return described;
}

std::size_t IsolatedCalls::sets_of(std::size_t call, ArgumentSets sets) const {
  if (sets != ArgumentSets::many_with_twins) return 1;
  const CheckedCall& checked = *calls_[call].call;
  std::uint64_t bytes = 1;
  for (std::size_t i = 0; i < checked.bound.tensor_bytes.size(); ++i) {
    const bool is_written = checked.info().parameters[i].direction != Direction::in;
    bytes += checked.bound.tensor_bytes[i] * (is_written ? 2 : 1);
  }
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(second_cache_bytes(state_.facts) / 2 / calls_.size() / bytes, 1, kMostSets));
}

std::string IsolatedCalls::start(std::vector<Call> calls, const RunnerOptions& options, ArgumentSets sets) {
  for (const Call& call : calls)
    if (const char* const why = why_not_isolated(state_, *call.call->module); *why != 0) return why;
  calls_ = std::move(calls);
  for (const Call& call : calls_) named_.push_back(call.call->arguments);
  RunnerOptions on_core = options;
  on_core.core = shared_core(state_);
  Status started = try_start(on_core, sets);
  if (started.code() == ErrorCode::resource_exhausted && sets != ArgumentSets::one)
    started = try_start(on_core, ArgumentSets::one);
  return started.message();
}

Status IsolatedCalls::try_start(const RunnerOptions& options, ArgumentSets sets) {
  workloads_.clear();
  twins_.clear();
  memory_.emplace(state_.access.isolation, state_.budget);
  const bool has_twins = sets != ArgumentSets::one;
  // Where inputs are drawn anew, the client's must stay as they are.
  const auto tensors = has_twins ? IsolatedMemory::Tensors::copied : IsolatedMemory::Tensors::in_place;
  std::vector<std::size_t> numbers, twins;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const CallToIsolate call = described(i, has_twins);
    FERRY_ASSIGN(numbers.emplace_back(), memory_->add(call, sets_of(i, sets), tensors));
    if (!has_twins) continue;
    FERRY_ASSIGN(twins.emplace_back(), memory_->add_twin(numbers.back(), call));
  }
  FERRY_TRY(memory_->map());
  const std::uint64_t memory_bytes = (state_.budget.limit() - state_.budget.used()) / (numbers.size() + twins.size());
  if (options.core >= 0) FERRY_TRY(pinning_.move_to({static_cast<std::uint32_t>(options.core)}));
  std::vector<Started> workloads, started_twins;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const CallToIsolate call = described(i, has_twins);
    FERRY_ASSIGN(workloads.emplace_back(), start_process(call, numbers[i], options, memory_bytes));
    if (!has_twins) continue;
    FERRY_ASSIGN(started_twins.emplace_back(), start_process(call, twins[i], options, memory_bytes));
  }
  workloads_ = std::move(workloads);
  twins_ = std::move(started_twins);
  for (std::size_t i = 0; i < calls_.size(); ++i) calls_[i].call->arguments = arguments(i, 0);
  return {};
}

Result<IsolatedCalls::Started> IsolatedCalls::start_process(const CallToIsolate& call, std::size_t number,
                                                            const RunnerOptions& options, std::uint64_t memory_bytes) {
  memory_->copy_in(number, call);
  Started started{number, nullptr};
  FERRY_ASSIGN(started.call,
               IsolatedCall::start(state_.access.isolation, *memory_, number, call, options, memory_bytes));
  return started;
}

std::vector<DeviceArgument> IsolatedCalls::arguments(std::size_t call, std::size_t set) const {
  return memory_->arguments(workloads_[call].number, set);
}

std::vector<DeviceArgument> IsolatedCalls::twin_arguments(std::size_t call, std::size_t set) const {
  return memory_->arguments(twins_[call].number, set);
}

void IsolatedCalls::copy_out() const {
  for (std::size_t i = 0; i < workloads_.size(); ++i) memory_->copy_out(workloads_[i].number, described(i, false));
}

template <class Visitor>
void IsolatedCalls::for_each_process(const Visitor& visit) const {
  for (const std::vector<Started>* processes : {&workloads_, &twins_})
    for (const Started& started : *processes) visit(*started.call);
}

void IsolatedCalls::end_like_runner(Activity& activity) const {
  for_each_process([&](IsolatedCall& process) { ferry::device::end_like_runner(process, activity); });
}

Status IsolatedCalls::check_processor_time() const {
  Status status;
  for_each_process([&](const IsolatedCall& process) {
    if (status.is_ok()) status = process.check_processor_time();
  });
  return status;
}

std::string IsolatedCalls::take_printed() {
  std::string printed;
  // The twins of calls print the same again.
  for (const Started& workload : workloads_) printed += workload.call->take_printed();
  return printed;
}

}  // namespace ferry::device
