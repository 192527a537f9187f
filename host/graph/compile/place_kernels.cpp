#include "host/graph/compile/place_kernels.h"

#include "base/parallel_for.h"
#include "crosscompile/make_backend.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/sized_stages.h"
#include "host/graph/loops.h"
#include "host/graph/passes/make_groups.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace ferry::graph {
namespace {

// A thread of a GPU takes a long sequence much longer than a CPU does, so a GPU needs many sequences at once.
std::string why_slow(const lang::Program& program, const autoschedule::Sizes& sizes) {
  constexpr std::int64_t kLongSequence = 1024, kFewSequences = 32;
  for (const schedule::ScheduledStage& stage : autoschedule::stages_at(program, sizes)) {
    if (stage.sequence == nullptr) continue;
    std::int64_t sequences = 1;
    for (std::size_t a = 0; a < stage.axes.size(); ++a) {
      const std::int64_t extent = autoschedule::constant_extent(stage.axes[a].extent);
      if (a == stage.sequence->axis ? extent < kLongSequence : extent == 0) sequences = kFewSequences;
      if (a != stage.sequence->axis && !stage.sequence->crossed[a]) sequences *= std::max<std::int64_t>(extent, 1);
      sequences = std::min(sequences, kFewSequences);
    }
    if (sequences < kFewSequences)
      return "expected at least " + std::to_string(kFewSequences) + " sequences to compute at once, got " +
             std::to_string(sequences);
  }
  return "";
}

// Returns why the target's devices cannot run the kernel under its default schedule; empty if they can.
std::string why_unsupported(const NetworkKernels& kernels, std::size_t kernel, const Target& target,
                            const Backend& backend) {
  Status status;
  const Status lowered = support_of([&] {
    for (const ir::Function& function : lower_kernel(kernels, kernel, target).functions)
      if (status.is_ok()) status = backend.supports(function);
  });
  return !lowered.is_ok() ? lowered.message() : status.is_ok() ? "" : status.message();
}

// Returns for each kernel whether a loop calls it.
std::vector<bool> kernels_in_loops(const Graph& graph, const NetworkKernels& kernels) {
  const Loops loops(graph);
  std::vector<bool> in_loops(kernels.programs.size());
  for (const GroupCall& call : kernels.calls)
    if (loops.of_node(call.group.nodes.back()) != kNoLoop) in_loops[call.kernel] = true;
  return in_loops;
}

// Returns for each kernel that may move why it runs on the CPU beside the device; empty if it does not.
std::vector<std::string> reasons_to_move(const Graph& graph, const NetworkKernels& kernels, const Target& target) {
  const std::vector<bool> in_loops = kernels_in_loops(graph, kernels);
  const std::unique_ptr<const Backend> backend = make_backend(target);
  std::vector<std::string> why(kernels.programs.size());
  std::vector<char> is_refused(why.size());
  parallel_for(why.size(), [&](std::size_t k) {
    if (in_loops[k]) return;
    why[k] = why_slow(kernels.programs[k], hints_for(kernels, k));
    if (!why[k].empty()) return;
    why[k] = why_unsupported(kernels, k, target, *backend);
    is_refused[k] = !why[k].empty();
  });
  if (std::ranges::none_of(why, &std::string::empty))
    for (std::size_t k = 0; k < why.size(); ++k)
      if (is_refused[k]) why[k].clear();
  return why;
}

}  // namespace

PlacedKernels place_kernels(const Graph& graph, const Target& target,
                            const std::map<std::string, std::int64_t>& sizes) {
  const std::vector<Group> groups = make_groups(graph);
  PlacedKernels placed = kernels_of(graph, groups, sizes);
  if (target.host == nullptr) return placed;
  std::vector<std::string> why = reasons_to_move(graph, placed.kernels, target);
  if (std::ranges::all_of(why, &std::string::empty)) return placed;
  return kernels_of(graph, groups, sizes, std::move(why));
}

}  // namespace ferry::graph
