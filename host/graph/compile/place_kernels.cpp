#include "host/graph/compile/place_kernels.h"

#include "crosscompile/compile.h"
#include "crosscompile/ir/error.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/sized_stages.h"
#include "host/graph/loops.h"

#include <algorithm>

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

// Returns for each kernel whether a loop calls it.
std::vector<bool> kernels_in_loops(const Graph& graph, const NetworkKernels& kernels) {
  const Loops loops(graph);
  std::vector<bool> in_loops(kernels.programs.size());
  for (const GroupCall& call : kernels.calls)
    if (loops.of_node(call.group.nodes.back()) != kNoLoop) in_loops[call.kernel] = true;
  return in_loops;
}

}  // namespace

std::vector<std::string> slow_on_gpu(const Graph& graph, const NetworkKernels& kernels) {
  const std::vector<bool> in_loops = kernels_in_loops(graph, kernels);
  std::vector<std::string> why(kernels.programs.size());
  for (std::size_t k = 0; k < why.size(); ++k)
    if (!in_loops[k]) why[k] = why_slow(kernels.programs[k], hints_for(kernels, k));
  return why;
}

bool add_refused(const Graph& graph, const NetworkKernels& kernels, const Target& target,
                 std::vector<std::string>& why_on_host) {
  const std::vector<bool> in_loops = kernels_in_loops(graph, kernels);
  std::vector<std::string> why = kernels.why_on_host;
  for (std::size_t k = 0; k < why.size(); ++k) {
    if (in_loops[k] || kernels.device_of(k) == kHostDevice) continue;
    try {
      compile_module(lower_kernel(kernels, k, target).functions, target, {});
    } catch (const CompileError& error) {
      why[k] = error.what();
    }
  }
  const bool refuses_all = std::ranges::none_of(why, &std::string::empty);
  if (refuses_all || why == kernels.why_on_host) return false;
  why_on_host = std::move(why);
  return true;
}

}  // namespace ferry::graph
