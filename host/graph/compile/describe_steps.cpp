#include "host/graph/compile/describe_steps.h"

#include "ferry/error.h"
#include "host/graph/plan/byte_ranges.h"

#include <set>
#include <utility>

namespace ferry::graph {
namespace {

// Returns the expression that `make` returns; none if it is too long for a manifest.
template <class Make>
ManifestExpr unless_too_long(const Make& make) {
  try {
    return make();
  } catch (const CompileError&) {
    return {};
  }
}

// A tensor that is computed in place of an input is read and written.
Size traffic(const Graph& graph, const GroupCall& group, bool is_in_place) {
  Size bytes = is_in_place ? byte_count(graph.tensor(group.arguments.back())) : Size(0);
  for (const TensorId id : std::set(group.arguments.begin(), group.arguments.end()))
    bytes = bytes + byte_count(graph.tensor(id));
  return bytes;
}

StepDescription describe_group(const Graph& graph, const GroupCall& group, const KernelCall& call, bool is_in_place) {
  const Tensor& result = graph.tensor(output_of(graph, group.group));
  StepDescription step{call.node, result.dtype, {}, {}, {}};
  for (const Size& size : result.shape) step.shape.push_back(to_manifest(size, graph.symbols));
  if (call.kernel->plan.steps.size() > 1) return step;
  if (!call.kernel->flops.code.empty())
    step.flops = unless_too_long([&] { return of_network(call.kernel->flops, call); });
  step.bytes = unless_too_long([&] { return to_manifest(traffic(graph, group, is_in_place), graph.symbols); });
  return step;
}

StepDescription describe_copy(const StorageCopy& copy) {
  const auto both = [&] { return manifest_apply(ManifestOp::mul, {copy.bytes, manifest_constant(2)}); };
  return {copy.name, DType::u8, {copy.bytes}, manifest_constant(0), unless_too_long(both)};
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
    const GroupCall& group = kernels.calls[next_call++];
    const bool is_in_place = kernels.keys[group.kernel].updated.has_value();
    const StepDescription described = describe_group(graph, group, call, is_in_place);
    steps.insert(steps.end(), call.kernel->plan.steps.size(), described);
  }
  return steps;
}

}  // namespace ferry::graph
