#include "host/verify/check_network.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "host/kernel/node_names.h"
#include "host/verify/check_outputs.h"
#include "host/verify/element_text.h"
#include "host/verify/kernel_outputs.h"
#include "host/verify/output_comparison.h"

namespace ferry::verify {

namespace {

// Loop iterations of the reference for all nodes together, about ten seconds.
constexpr double kNetworkWork = 10 * kWorkLimit;

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
lang::RoundingBound bound_of(const NodeProgram& node, const Contents& contents) {
  constexpr std::size_t kSmall = 16;
  if (node.algorithm) return lang::RoundingBound::worst_case;
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

CheckResult check_node(const NodeProgram& node, const FunctionInfo& info, const Contents& contents,
                       const std::vector<std::int64_t>& iteration, const CheckLimits& limits, double work) {
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
  const lang::Reference reference(node.program, node.symbols, arguments, bound_of(node, contents));
  std::optional<lang::Reference> algorithm;
  if (node.algorithm) algorithm.emplace(node.algorithm->program, node.algorithm->symbols, arguments);
  const std::uint8_t* computed = contents.of(node.tensors.back(), iteration);
  const std::vector<std::uint8_t> bytes(computed, computed + reference.elements(output) * dtype_bytes(named.dtype));
  return check_output(reference, output, named, bytes, limits,
                      {.effort = {.work_limit = work},
                       .algorithm = algorithm ? &*algorithm : nullptr,
                       .channels = node.channels,
                       .name = short_node_name(node.node) + when});
}

// Returns the first, the last and some other iterations of the loops around a node; one without loops runs once.
std::vector<std::vector<std::int64_t>> iterations_of(const NodeProgram& node) {
  constexpr std::int64_t kMost = 4;
  std::int64_t all = 1;
  for (const std::int64_t count : node.counts)
    if (__builtin_mul_overflow(all, std::max<std::int64_t>(count, 0), &all)) return {};
  std::vector<std::vector<std::int64_t>> iterations;
  const std::int64_t checked = std::min(all, kMost);
  for (std::int64_t i = 0; i < checked; ++i) {
    std::int64_t number =
        checked == 1 ? 0 : static_cast<std::int64_t>(static_cast<double>(all - 1) * i / (checked - 1));
    std::vector<std::int64_t>& iteration = iterations.emplace_back(node.counts.size());
    for (std::size_t l = node.counts.size(); l-- > 0; number /= node.counts[l]) iteration[l] = number % node.counts[l];
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

}  // namespace

std::vector<CheckResult> check_network(const Device& device, const KernelSource& source, const Target& target,
                                       const CallOptions& call, const RanKernel& ran, const CheckLimits& limits,
                                       const Observer& observer) {
  KernelSource traced = source;
  const std::shared_ptr<const Network> network = source.as_network()->network->with_all_outputs(target);
  traced.kind = NetworkKernel{network};
  // What the compiler notes of this network it has noted of the one that runs.
  Observer quiet = observer;
  quiet.message = nullptr;
  const CompiledModule module = compile_kernel(traced, "", target, call, quiet).module;
  const FunctionInfo& info = module.manifest().functions.front();
  const CallPlan plan = plan_call(info, call);
  const Contents contents(info, plan, outputs_of_call(device, module, info, plan, observer));
  const StepGuard step = observer.begin("checking");
  SizesByName sizes;
  for (std::size_t s = 0; s < info.symbols.size(); ++s) sizes[info.symbols[s]] = plan.symbols[s];
  const std::vector<NodeProgram> nodes = network->nodes(sizes);
  std::vector<std::pair<const NodeProgram*, std::vector<std::int64_t>>> checks;
  for (const NodeProgram& node : nodes)
    for (std::vector<std::int64_t>& iteration : iterations_of(node)) checks.emplace_back(&node, std::move(iteration));
  const double work = std::min(kWorkLimit, kNetworkWork / static_cast<double>(std::max<std::size_t>(checks.size(), 1)));
  std::vector<CheckResult> results;
  for (const auto& [node, iteration] : checks)
    results.push_back(check_node(*node, info, contents, iteration, limits, work));
  for (std::size_t p = 0; p < ran.info.parameters.size(); ++p)
    if (ran.info.parameters[p].direction != Direction::in) results.push_back(check_whole(ran, p, info, contents));
  return results;
}

}  // namespace ferry::verify
