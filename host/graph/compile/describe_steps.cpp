#include "host/graph/compile/describe_steps.h"

#include "ferry/error.h"
#include "host/graph/plan/byte_ranges.h"
#include "host/graph/plan/plan_values.h"
#include "module/sized_variant.h"

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
  if (most_steps_of_call(call.kernel->plan) > 1) return step;
  if (!call.kernel->flops.code.empty())
    step.flops = unless_too_long([&] { return of_network(call.kernel->flops, call); });
  step.bytes = unless_too_long([&] { return to_manifest(traffic(graph, group, is_in_place), graph.symbols); });
  return step;
}

StepDescription describe_copy(const StorageCopy& copy) {
  const auto both = [&] { return manifest_apply(ManifestOp::mul, {copy.bytes, manifest_constant(2)}); };
  return {copy.name,
          DType::u8,
          {copy.bytes},
          manifest_constant(0),
          copy.from == kNoStorage ? copy.bytes : unless_too_long(both)};
}

// Returns the work of all iterations of the loops around a step; none if it or their number is unknown, or it would be
// too long.
ManifestExpr in_all_iterations(ManifestExpr work, const std::vector<ManifestExpr>& counts) {
  for (const ManifestExpr& count : counts) {
    if (work.code.empty() || count.code.empty()) return {};
    work = unless_too_long(
        [&] { return substitute(manifest_apply(ManifestOp::mul, {work, count}), manifest_symbol, "work"); });
  }
  return work;
}

}  // namespace

std::vector<StepDescription> describe_steps(const Graph& graph, const NetworkKernels& kernels,
                                            const Composition& composition) {
  std::vector<StepDescription> steps;
  std::size_t next_call = 0;
  std::vector<ManifestExpr> counts;  // how often the loops around a step run
  const auto add = [&](StepDescription step, std::size_t times) {
    step.flops = in_all_iterations(std::move(step.flops), counts);
    step.bytes = in_all_iterations(std::move(step.bytes), counts);
    steps.insert(steps.end(), times, step);
  };
  for (const auto& step : composition.steps) {
    if (const auto* loop = std::get_if<BeginLoop>(&step)) {
      // How many iterations run before a condition ends them is unknown.
      counts.push_back(loop->condition == kNoStorage ? loop->count : ManifestExpr());
      steps.push_back({loop->name, DType::f32, {}, {}, {}});
      continue;
    }
    if (std::holds_alternative<EndLoop>(step)) {
      counts.pop_back();
      continue;
    }
    if (const auto* copy = std::get_if<StorageCopy>(&step)) {
      add(describe_copy(*copy), 1);
      continue;
    }
    const auto& call = std::get<KernelCall>(step);
    const GroupCall& group = kernels.calls[next_call++];
    const bool is_in_place = kernels.keys[group.kernel].updated.has_value();
    add(describe_group(graph, group, call, is_in_place), call.kernel->plan.steps.size());
  }
  return steps;
}

}  // namespace ferry::graph
