#include "host/verify/probes.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>

#include "host/kernel/kernel_failure.h"
#include "host/stats/random.h"
#include "host/verify/called_definition.h"
#include "host/verify/check_outputs.h"
#include "host/verify/other_sizes.h"
#include "host/verify/probe_inputs.h"

namespace ferry::verify {

namespace {

using Clock = std::chrono::steady_clock;

// Probes of exact sums begin only within this time: large inputs may have to cross a slow network.
constexpr std::chrono::seconds kMostTime{5};
constexpr std::size_t kMostExactProbes = 2;
// Shares of elements other than 0 in the inputs of -1, 0 and 1: the fewer, the longer the sums that are exact.
constexpr double kShares[] = {0.5, 1.0 / 64};
// Number of elements by which a definition shows whether its results are exact.
constexpr std::size_t kSampled = 16;
constexpr CheckEffort kEffort{.work_limit = kWorkLimit / 8, .least_sample = 200};

std::vector<std::size_t> free_floats(const FunctionInfo& info, const CallPlan& plan) {
  std::vector<std::size_t> inputs;
  for (std::size_t p = 0; p < info.parameters.size(); ++p)
    if (is_float(plan.dtypes[p]) && is_free_input(info, plan, p)) inputs.push_back(p);
  return inputs;
}

CallPlan with_one_wide(const CallPlan& plan, const std::vector<std::size_t>& inputs, std::size_t wide, double share,
                       std::uint64_t seed) {
  stats::Random random(seed);
  CallPlan changed = plan;
  // If there is no other input, the sums are of this one's elements.
  const double wide_share = inputs.size() == 1 ? 2 * share : 1;
  for (const std::size_t p : inputs) {
    const auto count = static_cast<std::uint64_t>(plan.places[p]);
    set_contents(changed, p,
                 p == wide ? draw_integers(plan.dtypes[p], count, wide_share, random.next())
                           : draw_signs(plan.dtypes[p], count, share, random.next()));
  }
  return changed;
}

// Evaluates all elements of each output of floats, or so many at random. Throws CompileError if it is not defined for
// these inputs.
std::vector<std::vector<lang::Element>> evaluate_some(const Definition& definition, const CallPlan& plan,
                                                      stats::Random& random, std::uint64_t count) {
  const CalledDefinition called(definition.program, definition.info, plan, lang::RoundingBound::exact);
  std::vector<std::vector<lang::Element>> found;
  for (std::size_t p = 0; p < definition.info.parameters.size(); ++p) {
    const ParameterInfo& output = definition.info.parameters[p];
    if (output.direction == Direction::in || !is_float(output.dtype)) continue;
    const std::uint64_t elements = called.reference().elements(p);
    std::vector<std::uint64_t> positions(static_cast<std::size_t>(std::min(elements, count)));
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = elements > count ? random.below(elements) : i;
    found.push_back(called.reference().evaluate(p, positions));
  }
  return found;
}

// Whether at least half of the elements of an output are exact, and not all of these are 0.
bool are_exact(const std::vector<lang::Element>& elements) {
  const auto is_exact = [](const lang::Element& one) { return one.error == 0; };
  const bool have_value =
      std::ranges::any_of(elements, [&](const lang::Element& one) { return is_exact(one) && one.real != 0; });
  return have_value && 2 * static_cast<std::size_t>(std::ranges::count_if(elements, is_exact)) >= elements.size();
}

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
        random_(options.seed) {}

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
    std::vector<std::size_t> wide = inputs;
    std::ranges::stable_sort(wide, std::greater(), [&](std::size_t p) { return plan_.places[p]; });
    wide.resize(std::min(wide.size(), kMostExactProbes));
    for (const std::size_t p : wide) {
      if (has_failed_ || Clock::now() - begin > kMostTime) return;
      for (const double share : kShares) {
        const CallPlan changed = with_one_wide(plan_, inputs, p, share, random_.next());
        if (!is_exact(changed)) continue;
        call_and_compare({exact_text(inputs, p)}, changed, lang::RoundingBound::exact, kEffort);
        break;
      }
    }
  }

  void probe_adversarial_inputs() {
    for (const AdversarialSet set : kAdversarialSets) {
      if (has_failed_) return;
      const std::optional<CallPlan> changed = adversarial_call(info_, plan_, set, random_);
      if (!changed) continue;
      CheckEffort effort = kEffort;
      effort.knows_nan = set == AdversarialSet::not_finite;
      call_and_compare({to_text(set)}, *changed, lang::RoundingBound::exact, effort);
    }
  }

  void probe_other_sizes() {
    for (const CallOfOtherSizes& other : calls_of_other_sizes(info_, plan_, random_.next())) {
      if (has_failed_) return;
      call_and_compare({"random numbers", other.sizes}, other.plan, bound_of(info_, other.plan), kEffort);
    }
  }

  bool is_exact(const CallPlan& changed) {
    try {
      return std::ranges::any_of(definitions_, [&](const Definition& definition) {
        return std::ranges::any_of(evaluate_some(definition, plan_of(definition, info_, changed), random_, kSampled),
                                   are_exact);
      });
    } catch (const CompileError&) {
      return false;  // not defined for these inputs
    }
  }

  std::string exact_text(const std::vector<std::size_t>& inputs, std::size_t wide) const {
    std::string text = info_.parameters[wide].name + ": odd integers of " +
                       std::to_string(bits_of_integers(plan_.dtypes[wide])) + " bits",
                others;
    for (const std::size_t p : inputs)
      if (p != wide) others += (others.empty() ? "" : ", ") + info_.parameters[p].name;
    return others.empty() ? text : text + "; " + others + ": -1, 0, 1";
  }

  // Whether the definitions can be evaluated: indices that the inputs determine may lead outside of tensors.
  bool is_defined(const CallPlan& changed) {
    try {
      for (const Definition& definition : definitions_)
        evaluate_some(definition, plan_of(definition, info_, changed), random_, kEffort.least_sample);
      return true;
    } catch (const CompileError&) {
      return false;
    }
  }

  // Adds the probe, unless no definition says what its results are.
  void call_and_compare(Probe probe, const CallPlan& changed, lang::RoundingBound bound, const CheckEffort& effort) {
    const StepGuard step = observer_.begin("checking " + info_.name + " with " + probe.inputs);
    try {
      const Outputs outputs = call_(changed);
      for (const Definition& definition : definitions_) {
        const CallPlan plan = plan_of(definition, info_, changed);
        const CalledDefinition called(definition.program, definition.info, plan, bound, definition.native.get());
        std::ranges::move(
            check_outputs(called, definition.info, in_order_of(definition, outputs), options_.limits, effort),
            std::back_inserter(probe.checks));
      }
    } catch (const CompileError&) {
      return;
    } catch (const Error& error) {
      if (!is_failure_of_kernel(error)) throw;
      if (!is_defined(changed)) return;
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
  stats::Random random_;
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
