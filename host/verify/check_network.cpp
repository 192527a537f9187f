#include "host/verify/check_network.h"

#include <algorithm>
#include <optional>

#include "host/verify/check_outputs.h"
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
  const void* of(const NodeTensor& tensor) const {
    return tensor.is_constant ? tensor.constant.data() : bytes_[tensor.parameter].data();
  }

 private:
  Outputs bytes_;
};

CheckResult check_node(const NodeProgram& node, const FunctionInfo& info, const Contents& contents,
                       const CheckLimits& limits, double work) {
  std::vector<const void*> arguments;
  std::size_t next_tensor = 0, next_scalar = 0, output = 0;
  for (const lang::Parameter& parameter : node.program.parameters) {
    if (parameter.kind == ParameterKind::scalar) {
      arguments.push_back(&node.scalars[next_scalar++]);
    } else if (parameter.direction == Direction::out) {
      output = arguments.size();
      arguments.push_back(nullptr);
    } else {
      arguments.push_back(contents.of(node.tensors[next_tensor++]));
    }
  }
  const std::size_t parameter = node.tensors.back().parameter;
  ParameterInfo named = info.parameters[parameter];
  named.name = node.node;
  const lang::Reference reference(node.program, node.symbols, arguments);
  std::optional<lang::Reference> algorithm;
  if (node.algorithm) algorithm.emplace(node.algorithm->program, node.algorithm->symbols, arguments);
  return check_output(reference, output, named, contents.of(parameter), limits, work,
                      algorithm ? &*algorithm : nullptr);
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
  traced.network = source.network->with_all_outputs(target);
  const CompiledModule module = compile_kernel(traced, "", target, call, observer).module;
  const FunctionInfo& info = module.manifest().functions.front();
  const CallPlan plan = plan_call(info, call);
  const Contents contents(info, plan, outputs_of_call(device, module, info, plan, observer));
  const StepGuard step = observer.begin("checking");
  SizesByName sizes;
  for (std::size_t s = 0; s < info.symbols.size(); ++s) sizes[info.symbols[s]] = plan.symbols[s];
  const std::vector<NodeProgram> nodes = traced.network->nodes(sizes);
  const double work = std::min(kWorkLimit, kNetworkWork / static_cast<double>(std::max<std::size_t>(nodes.size(), 1)));
  std::vector<CheckResult> results;
  for (const NodeProgram& node : nodes) results.push_back(check_node(node, info, contents, limits, work));
  for (std::size_t p = 0; p < ran.info.parameters.size(); ++p)
    if (ran.info.parameters[p].direction != Direction::in) results.push_back(check_whole(ran, p, info, contents));
  return results;
}

}  // namespace ferry::verify
