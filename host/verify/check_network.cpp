#include "host/verify/check_network.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "host/kernel/kernel_failure.h"
#include "host/kernel/node_names.h"
#include "host/kernel/size_hints.h"
#include "host/stats/random.h"
#include "host/verify/check_outputs.h"
#include "host/verify/element_text.h"
#include "host/verify/kernel_outputs.h"
#include "host/verify/other_sizes.h"
#include "host/verify/output_comparison.h"
#include "host/verify/probe_inputs.h"

namespace ferry::verify {

namespace {

// Loop iterations of the reference for all nodes together, about ten seconds.
constexpr double kNetworkWork = 10 * kWorkLimit;
// The same in a probe, about a second.
constexpr double kProbeWork = kWorkLimit;

// The contents of the parameters of a call, as the nodes refer to them.
class Contents {
 public:
  Contents(const FunctionInfo& info, const CallPlan& plan, Outputs outputs) : bytes_(std::move(outputs)) {
    for (std::size_t p = 0; p < info.parameters.size(); ++p)
      if (info.parameters[p].direction != Direction::out) bytes_[p] = plan.host_copy(p);
  }

  const std::vector<std::uint8_t>& of(std::size_t parameter) const { return bytes_[parameter]; }
  // Returns those of all iterations of the loops around.
  std::span<const std::uint8_t> all_of(const NodeTensor& tensor) const {
    return tensor.is_constant ? tensor.constant : std::span<const std::uint8_t>(bytes_[tensor.parameter]);
  }
  // Returns those of an iteration of the loops around.
  const std::uint8_t* of(const NodeTensor& tensor, const std::vector<std::int64_t>& iteration) const {
    const std::uint8_t* at = tensor.is_constant ? tensor.constant.data() : bytes_[tensor.parameter].data();
    for (std::size_t l = 0; l < iteration.size(); ++l) at += iteration[l] * tensor.strides[l];
    return at;
  }

 private:
  Outputs bytes_;
};

// Returns whether more than half of a sample of the elements, apart from zeros, differ from each other.
bool is_irregular(DType dtype, std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kSample = 256;
  const std::size_t size = dtype_bytes(dtype), elements = bytes.size() / size, sampled = std::min(elements, kSample);
  std::set<double> different;
  std::size_t count = 0;
  for (std::size_t i = 0; i < sampled; ++i) {
    const double value = value_of(dtype, lang::load_element(dtype, bytes.data() + i * elements / sampled * size));
    if (value == 0) continue;
    ++count;
    if (std::isfinite(value)) different.insert(value);
  }
  return different.size() * 2 > count;
}

// Returns the bound for the sums of a node. Rounding errors cancel if there is nothing regular in the terms, so all
// floats that the node reads must be irregular, but for tensors that are small beside others, such as a bias. Those of
// Winograd's algorithm add up in its transforms.
lang::RoundingBound bound_of(const NodeProgram& node, const Contents& contents, bool is_probe) {
  constexpr std::size_t kSmall = 16;
  if (node.algorithm) return lang::RoundingBound::worst_case;
  if (is_probe) return lang::RoundingBound::exact;
  std::vector<std::pair<DType, std::span<const std::uint8_t>>> floats;
  std::size_t next = 0, most = 0;
  for (const lang::Parameter& parameter : node.program.parameters) {
    if (parameter.kind == ParameterKind::scalar) continue;
    const NodeTensor& tensor = node.tensors[next++];
    if (parameter.direction == Direction::out || !is_float(parameter.tensor.dtype())) continue;
    floats.emplace_back(parameter.tensor.dtype(), contents.all_of(tensor));
    most = std::max(most, floats.back().second.size());
  }
  const bool cancels = most > 0 && std::ranges::all_of(floats, [&](const auto& tensor) {
                         return tensor.second.size() <= most / kSmall || is_irregular(tensor.first, tensor.second);
                       });
  return cancels ? lang::RoundingBound::square_root : lang::RoundingBound::worst_case;
}

// How the nodes of one call are compared.
struct CallCheck {
  const CheckLimits& limits;
  CheckEffort effort;
  bool is_probe = false;  // its inputs may be such that sums overflow, or are exact
};

CheckResult check_node(const NodeProgram& node, const FunctionInfo& info, const Contents& contents,
                       const std::vector<std::int64_t>& iteration, const CallCheck& how) {
  std::vector<const void*> arguments;
  std::size_t next_tensor = 0, next_scalar = 0, output = 0;
  for (const lang::Parameter& parameter : node.program.parameters) {
    if (parameter.kind == ParameterKind::scalar) {
      arguments.push_back(&node.scalars[next_scalar++]);
    } else if (parameter.direction == Direction::out) {
      output = arguments.size();
      arguments.push_back(nullptr);
    } else {
      arguments.push_back(contents.of(node.tensors[next_tensor++], iteration));
    }
  }
  ParameterInfo named = info.parameters[node.tensors.back().parameter];
  std::string when;
  for (std::size_t l = 0; l < iteration.size(); ++l)
    when += (l == 0 ? " in iteration " : ", ") + std::to_string(iteration[l]);
  named.name = node.node + when;
  const lang::Reference reference(node.program, node.symbols, arguments, bound_of(node, contents, how.is_probe));
  std::optional<lang::Reference> algorithm;
  if (node.algorithm) algorithm.emplace(node.algorithm->program, node.algorithm->symbols, arguments);
  const std::uint8_t* computed = contents.of(node.tensors.back(), iteration);
  const std::vector<std::uint8_t> bytes(computed, computed + reference.elements(output) * dtype_bytes(named.dtype));
  return check_output(reference, output, named, bytes, how.limits,
                      {.effort = how.effort,
                       .algorithm = algorithm ? &*algorithm : nullptr,
                       .channels = node.channels,
                       .name = short_node_name(node.node) + when});
}

// Returns the first, the last and some other iterations of the loops around a node; one without loops runs once.
std::vector<std::vector<std::int64_t>> iterations_of(const NodeProgram& node, const Contents& contents) {
  constexpr std::int64_t kMost = 4, kMostRead = std::int64_t{1} << 20;
  std::int64_t all = 1;
  for (const std::int64_t count : node.counts)
    if (__builtin_mul_overflow(all, std::max<std::int64_t>(count, 0), &all)) return {};
  const auto iteration_at = [&](std::int64_t number) {
    std::vector<std::int64_t> iteration(node.counts.size());
    for (std::size_t l = node.counts.size(); l-- > 0; number /= node.counts[l]) iteration[l] = number % node.counts[l];
    return iteration;
  };
  // Those that ran before a condition ended a loop.
  std::vector<std::int64_t> ran;
  if (!node.conditions.empty()) {
    for (std::int64_t i = 0; i < std::min(all, kMostRead); ++i) {
      const std::vector<std::int64_t> iteration = iteration_at(i);
      if (std::ranges::all_of(node.conditions,
                              [&](const NodeTensor& condition) { return *contents.of(condition, iteration) != 0; }))
        ran.push_back(i);
    }
    all = static_cast<std::int64_t>(ran.size());
  }
  std::vector<std::vector<std::int64_t>> iterations;
  const std::int64_t checked = std::min(all, kMost);
  for (std::int64_t i = 0; i < checked; ++i) {
    const std::int64_t number =
        checked == 1 ? 0 : static_cast<std::int64_t>(static_cast<double>(all - 1) * i / (checked - 1));
    iterations.push_back(iteration_at(ran.empty() ? number : ran[static_cast<std::size_t>(number)]));
  }
  return iterations;
}

// Compares an output of the whole network with what its kernels computed when each had memory of its own.
CheckResult check_whole(const RanKernel& ran, std::size_t parameter, const FunctionInfo& info,
                        const Contents& contents) {
  const std::string& name = ran.info.parameters[parameter].name;
  const auto same = std::ranges::find(info.parameters, name, &ParameterInfo::name) - info.parameters.begin();
  const OutputComparison found = compare_outputs(name, ran.plan.dtypes[parameter], ran.plan.shapes[parameter],
                                                 ran.outputs[parameter], contents.of(same), {0, 0});
  CheckResult result;
  result.output = name + " of the whole network";
  result.compared = result.elements = found.elements;
  result.largest_absolute = found.largest_difference;
  result.wrong = found.different;
  result.nan = found.nan[0];
  result.nan_expected = found.nan[1];
  if (found.different > 0)
    result.first_wrong = found.first_difference + ", which the same kernels compute in memory of their own";
  return result;
}

// The network with the results of all kernels as outputs.
class TracedNetwork {
 public:
  TracedNetwork(const Device& device, const KernelSource& source, const Target& target, const CallOptions& call,
                const Observer& observer)
      : device_(device),
        observer_(observer),
        network_(source.as_network()->network->with_all_outputs(target, size_hints(function_of(source, ""), call),
                                                                source.tuned.get())),
        module_(compile(source, network_, target, call, observer)) {}

  const FunctionInfo& info() const { return module_.manifest().functions.front(); }

  Contents run(const CallPlan& plan) const {
    return {info(), plan, outputs_of_call(device_, module_, info(), plan, observer_)};
  }

  // Compares the results of all nodes. `how` has the effort for all together.
  std::vector<CheckResult> check(const CallPlan& plan, const Contents& contents, CallCheck how) const {
    SizesByName sizes;
    for (std::size_t s = 0; s < info().symbols.size(); ++s) sizes[info().symbols[s]] = plan.symbols[s];
    const std::vector<NodeProgram> nodes = network_->nodes(sizes);
    std::vector<std::pair<const NodeProgram*, std::vector<std::int64_t>>> checks;
    for (const NodeProgram& node : nodes)
      for (std::vector<std::int64_t>& iteration : iterations_of(node, contents))
        checks.emplace_back(&node, std::move(iteration));
    how.effort.work_limit =
        std::min(kWorkLimit, how.effort.work_limit / static_cast<double>(std::max<std::size_t>(checks.size(), 1)));
    std::vector<CheckResult> results;
    for (const auto& [node, iteration] : checks) {
      const StepGuard step = observer_.begin("checking " + std::to_string(results.size() + 1) + " of " +
                                             std::to_string(checks.size()) + ", " + short_node_name(node->node));
      results.push_back(check_node(*node, info(), contents, iteration, how));
    }
    return results;
  }

 private:
  static CompiledModule compile(const KernelSource& source, const std::shared_ptr<const Network>& network,
                                const Target& target, const CallOptions& call, const Observer& observer) {
    KernelSource traced = source;
    traced.kind = NetworkKernel{network};
    // What the compiler notes of this network it has noted of the one that runs.
    Observer quiet = observer;
    quiet.message = nullptr;
    return compile_kernel(traced, "", target, call, quiet).module;
  }

  const Device& device_;
  const Observer& observer_;
  std::shared_ptr<const Network> network_;
  CompiledModule module_;
};

// Calls the network again, with other inputs or sizes.
class NetworkProber {
 public:
  NetworkProber(const TracedNetwork& network, const CallPlan& plan, const ProbeOptions& options,
                const Observer& observer)
      : network_(network), plan_(plan), options_(options), observer_(observer), random_(options.seed) {}

  std::vector<Probe> run() {
    for (const AdversarialSet set : kAdversarialSets)
      if (const auto changed = adversarial_call(network_.info(), plan_, set, random_))
        call_and_compare({to_text(set)}, *changed, set == AdversarialSet::not_finite);
    for (const CallOfOtherSizes& other : calls_of_other_sizes(network_.info(), plan_, random_.next()))
      call_and_compare({"random numbers", other.sizes}, other.plan, false);
    return std::move(probes_);
  }

 private:
  // Sizes that a network refuses, and inputs that it does, show nothing: nodes check what they are given.
  void call_and_compare(Probe probe, const CallPlan& changed, bool knows_nan) {
    const StepGuard step = observer_.begin("checking with " + probe.inputs);
    try {
      const CheckEffort effort{.work_limit = kProbeWork, .least_sample = 100, .knows_nan = knows_nan};
      probe.checks = network_.check(changed, network_.run(changed), {options_.limits, effort, true});
    } catch (const CompileError&) {
      return;
    } catch (const Error& error) {
      if (is_failure_of_kernel(error) || error.code() == ErrorCode::invalid_argument) return;
      throw;
    }
    probes_.push_back(std::move(probe));
  }

  const TracedNetwork& network_;
  const CallPlan& plan_;
  const ProbeOptions& options_;
  const Observer& observer_;
  stats::Random random_;
  std::vector<Probe> probes_;
};

}  // namespace

void check_network(const Device& device, const KernelSource& source, const Target& target, const CallOptions& call,
                   const RanKernel& ran, const ProbeOptions& options, Findings& findings, const Observer& observer) {
  const TracedNetwork network(device, source, target, call, observer);
  const CallPlan plan = plan_call(network.info(), call);
  const Contents contents = network.run(plan);
  {
    const StepGuard step = observer.begin("checking");
    std::ranges::move(network.check(plan, contents, {options.limits, {.work_limit = kNetworkWork}}),
                      std::back_inserter(findings.checks));
    for (std::size_t p = 0; p < ran.info.parameters.size(); ++p)
      if (ran.info.parameters[p].direction != Direction::in)
        findings.checks.push_back(check_whole(ran, p, network.info(), contents));
  }
  if (options.thorough) findings.probes = NetworkProber(network, plan, options, observer).run();
}

}  // namespace ferry::verify
