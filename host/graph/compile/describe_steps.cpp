#include "host/graph/compile/describe_steps.h"

#include "ferry/error.h"

#include <set>
#include <utility>

namespace ferry::graph {
namespace {

// Returns the expression; none where it cannot be had.
template <class Make>
ManifestExpr unless_too_long(const Make& make) {
  try {
    return make();
  } catch (const CompileError&) {
    return {};
  }
}

Size traffic(const Graph& graph, const GroupCall& group) {
  Size bytes = 0;
  for (const TensorId id : std::set(group.arguments.begin(), group.arguments.end())) {
    const Tensor& tensor = graph.tensor(id);
    bytes = bytes + element_count(stored_shape(tensor)) * Size(static_cast<std::int64_t>(dtype_bytes(tensor.dtype)));
  }
  return bytes;
}

StepDescription describe_group(const Graph& graph, const GroupCall& group, const KernelCall& call) {
  const Tensor& result = graph.tensor(output_of(graph, group.group));
  StepDescription step{call.node, result.dtype, {}, {}, {}};
  for (const Size& size : result.shape) step.shape.push_back(to_manifest(size, graph.symbols));
  if (call.kernel->plan.steps.size() > 1) return step;
  if (!call.kernel->flops.code.empty())
    step.flops = unless_too_long([&] { return of_network(call.kernel->flops, call); });
  step.bytes = unless_too_long([&] { return to_manifest(traffic(graph, group), graph.symbols); });
  return step;
}

StepDescription describe_copy(const StorageCopy& copy) {
  const auto both = [&] { return manifest_apply(ManifestOp::mul, {copy.bytes, manifest_constant(2)}); };
  return {"copy to " + copy.tensor, DType::u8, {copy.bytes}, manifest_constant(0), unless_too_long(both)};
}

}  // namespace

std::vector<StepDescription> describe_steps(const Graph& graph, const NetworkKernels& kernels,
                                            const Composition& composition) {
  std::vector<StepDescription> steps;
  std::size_t next_call = 0;
  for (const auto& step : composition.steps) {
    if (const auto* copy = std::get_if<StorageCopy>(&step)) {
      steps.push_back(describe_copy(*copy));
      continue;
    }
    const auto& call = std::get<KernelCall>(step);
    const StepDescription described = describe_group(graph, kernels.calls[next_call++], call);
    steps.insert(steps.end(), call.kernel->plan.steps.size(), described);
  }
  return steps;
}

}  // namespace ferry::graph
