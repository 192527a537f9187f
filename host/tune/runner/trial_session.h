// The part of a task in a session on a device: inputs, tensors for what code writes, and what the default schedule
// computes.
#pragma once

#include "ferry/bench/sampling.h"
#include "ferry/client.h"
#include "host/client/pending_calls.h"
#include "host/kernel/call_plan.h"
#include "host/tune/builder/builder.h"
#include "host/verify/output_comparison.h"
#include "module/manifest.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ferry::tune {

// Common to all code of a task. It must outlive the runners.
struct RunnerTask {
  ModuleBytes default_module;
  FunctionInfo info;
  CallPlan plan;
  std::vector<std::string> devices = {};  // besides the CPU
  std::vector<std::uint32_t> cores = {};  // as of BenchOptions
  std::uint32_t threads = 0;              // the same
  std::uint64_t cache_bytes = 0;          // a core's; no call is to find its inputs there; 0: not known
};

// Returns in how many sets of tensors calls run in turns, so that none finds its own in a cache of this size: 1 for one
// set that is larger, and for tensors so small that they would stay there in any program.
std::size_t sets_in_turns(std::uint64_t set_bytes, std::uint64_t cache_bytes);

// By how much results may differ from the default's, one for each parameter that is written.
using ResultLimits = std::vector<verify::AppliedLimits>;

// All code writes to the same tensors: the server runs what it is sent in this order, so trials that are on their way
// at the same time do not mix as long as each one poisons the tensors first, and compares them right after its call.
class TrialSession {
 public:
  TrialSession(Device device, const RunnerTask& task);

  session::Client& client() const { return *device_.state()->client; }
  // Sends a module of the task. A failure is reported by the first call.
  Function load(const ModuleBytes& module) const;

  // Calls the default schedule's code and keeps its results. Returns for how many seconds it ran.
  double call_default(const Function& code);
  // Returns limits for the results, which it reads if `known` has not all of them.
  ResultLimits limits(ResultLimits known) const;

  // These send requests without waiting for answers.
  session::PendingCall send_call(const Function& code) const;
  std::vector<session::PendingDifference> send_comparisons(const ResultLimits& limits) const;
  session::PendingTimings send_measurement(const Function& code, const BenchOptions& options) const;

  // Returns a sentence about the first parameter whose values differ; empty if none does.
  std::string difference(std::vector<session::PendingDifference>& pending) const;

 private:
  using Arguments = std::vector<Argument>;

  Arguments with_own_results(const Arguments& inputs) const;
  // Fills outputs with values that no code computes, and copies inputs to tensors that are read and written.
  void poison() const;

  Device device_;
  const RunnerTask& task_;
  // In each set one for each parameter that is read.
  std::vector<Arguments> inputs_;
  std::vector<Arguments> arguments_;   // arguments of each set, for the code of trials
  std::vector<DeviceTensor> results_;  // the default's, one for each parameter that is written
};

}  // namespace ferry::tune
