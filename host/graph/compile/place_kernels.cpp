#include "host/graph/compile/place_kernels.h"

#include "crosscompile/compile.h"
#include "crosscompile/ir/error.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/sized_stages.h"

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

}  // namespace

std::vector<std::string> slow_on_gpu(const NetworkKernels& kernels) {
  std::vector<std::string> why;
  for (std::size_t k = 0; k < kernels.programs.size(); ++k)
    why.push_back(why_slow(kernels.programs[k], hints_for(kernels, k)));
  return why;
}

bool add_refused(const NetworkKernels& kernels, const Target& target, std::vector<std::string>& why_on_host) {
  std::vector<std::string> why = kernels.why_on_host;
  for (std::size_t k = 0; k < why.size(); ++k) {
    if (kernels.device_of(k) == kHostDevice) continue;
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
