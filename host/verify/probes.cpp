#include "host/verify/probes.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "host/kernel/kernel_failure.h"
#include "host/verify/called_definition.h"
#include "host/verify/other_sizes.h"
#include "host/verify/probe_calls.h"

namespace ferry::verify {

namespace {

using Clock = std::chrono::steady_clock;

// Probes of exact sums begin only within this time: large inputs may have to cross a slow network.
constexpr std::chrono::seconds kMostTime{5};
const CheckEffort kEffort = CheckEffort::share(8, 200);

class Prober {
 public:
  Prober(const FunctionInfo& info, const CallPlan& plan, const std::vector<Definition>& definitions,
         const ProbeOptions& options, const CallAgain& call, const Observer& observer)
      : info_(info),
        plan_(plan),
        definitions_(definitions),
        options_(options),
        call_(call),
        observer_(observer),
        planner_(info, plan, definitions, options.seed) {}

  std::vector<Probe> run() {
    if (definitions_.empty()) return {};
    if (!options_.limits.rtol && !options_.limits.atol && !options_.limits.other_algorithm) probe_exact_sums();
    if (options_.thorough) {
      probe_adversarial_inputs();
      probe_other_sizes();
    }
    return std::move(probes_);
  }

 private:
  void probe_exact_sums() {
    const Clock::time_point begin = Clock::now();
    const std::vector<std::size_t> inputs = free_floats(info_, plan_);
    for (const std::size_t p : widest(plan_, inputs)) {
      if (has_failed_ || Clock::now() - begin > kMostTime) return;
      if (const std::optional<ProbeCall> call = planner_.exact_sums(inputs, p)) call_and_compare(*call);
    }
  }

  void probe_adversarial_inputs() {
    for (const AdversarialSet set : kAdversarialSets) {
      if (has_failed_) return;
      if (const std::optional<ProbeCall> call = planner_.adversarial(set)) call_and_compare(*call);
    }
  }

  void probe_other_sizes() {
    for (const CallOfOtherSizes& other : calls_of_other_sizes(info_, plan_, planner_.random().next())) {
      if (has_failed_) return;
      call_and_compare({"random numbers", other.plan, bound_of(info_, other.plan)}, other.sizes);
    }
  }

  // Adds the probe, unless no definition says what its results are.
  void call_and_compare(const ProbeCall& call, const std::string& sizes = {}) {
    const StepGuard step = observer_.begin("checking " + info_.name + " with " + call.inputs);
    Probe probe{call.inputs, sizes};
    try {
      probe.checks = check_probe(info_, definitions_, call, call_(call.plan), options_.limits, kEffort);
    } catch (const CompileError&) {
      return;
    } catch (const Error& error) {
      if (!is_failure_of_kernel(error)) throw;
      if (!planner_.is_defined(call.plan)) return;
      probe.failure = error.what();
      has_failed_ = true;
    }
    probes_.push_back(std::move(probe));
  }

  const FunctionInfo& info_;
  const CallPlan& plan_;
  const std::vector<Definition>& definitions_;
  const ProbeOptions& options_;
  const CallAgain& call_;
  const Observer& observer_;
  ProbePlanner planner_;
  std::vector<Probe> probes_;
  bool has_failed_ = false;
};

}  // namespace

std::vector<Probe> run_probes(const FunctionInfo& info, const CallPlan& plan,
                              const std::vector<Definition>& definitions, const ProbeOptions& options,
                              const CallAgain& call, const Observer& observer) {
  return Prober(info, plan, definitions, options, call, observer).run();
}

std::vector<Probe> run_probes(const Device& device, const CompiledModule& module, const FunctionInfo& info,
                              const CallPlan& plan, const std::vector<Definition>& definitions,
                              const ProbeOptions& options, const Observer& observer) {
  std::vector<Probe> probes = run_probes(
      info, plan, definitions, options,
      [&](const CallPlan& changed) { return outputs_of_call(device, module, info, changed, observer, options.place); },
      observer);
  if (probes.empty() || has_failed(probes)) return probes;
  try {
    finish_kernels(device);
  } catch (const Error& error) {
    if (!is_failure_of_kernel(error)) throw;
    probes.back().failure = error.what();
  }
  return probes;
}

bool has_failed(const std::vector<Probe>& probes) {
  return std::ranges::any_of(probes, [](const Probe& probe) { return !probe.failure.empty(); });
}

}  // namespace ferry::verify
