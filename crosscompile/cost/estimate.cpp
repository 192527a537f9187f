#include "crosscompile/cost/estimate.h"

#include "crosscompile/cost/block.h"
#include "crosscompile/cost/traffic.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ferry::cost {

namespace {

// Computing and the traffic of each level go on at the same time; of all but the longest so much is not hidden.
constexpr double kNotHidden = 0.3;
// One thread alone takes so much of what memory can give to all.
constexpr double kMemoryShare = 0.5;
// To distribute a parallel loop over threads.
constexpr double kForkCycles = 10'000, kParallelCall = 100;

class Sum {
 public:
  Sum(const FunctionNest& function, const Target& target, const Core& core)
      : function_(function), uses_(uses_of(function)), target_(target), core_(core), work_(work_of(function.body)) {}

  double cycles(std::uint32_t threads) const { return cycles(work_, work_.instructions, threads); }

 private:
  struct Work {
    const LoopNest* nest = nullptr;
    Block block;
    double instructions = 0;  // in an iteration, those in the loops inside included
    std::vector<Work> inner;
  };

  Work work_of(const LoopNest& nest) {
    path_.push_back(&nest);
    Work work{&nest, nest.steps.empty() ? Block() : block_of(function_, path_, uses_, target_, core_), 0, {}};
    work.instructions = work.block.instructions;
    for (const auto& loop : nest.inner) {
      work.inner.push_back(work_of(*loop));
      work.instructions += work.inner.back().instructions * loop->extent * loop->share;
    }
    path_.pop_back();
    return work;
  }

  // Returns the cycles of all iterations of a loop, for each time that the code around it runs, an iteration of which
  // has so many instructions.
  double cycles(const Work& work, double around, std::uint32_t threads) const {
    const LoopNest& nest = *work.nest;
    const double extent = nest.extent;
    // Iterations of the code around, which do not wait for each other, are under way at the same time.
    const double overlap = std::max(1.0, core_.window / std::max(1.0, around));
    const double own_overlap = std::max(1.0, core_.window / std::max(1.0, work.instructions));
    const Block& block = work.block;
    double total = std::max({block.cycles, block.chain / overlap, block.depth / own_overlap}) * extent;
    total += block.latency / own_overlap * extent;
    for (const Work& inner : work.inner) total += cycles(inner, work.instructions, threads) * extent;
    if (nest.var != nullptr) total += core_.loop_cycles(extent);
    if (nest.is_parallel) total = in_parallel(total, extent, threads);
    return total * nest.share;
  }

  static double in_parallel(double cycles, double extent, std::uint32_t threads) {
    if (threads <= 1) return cycles + kParallelCall;
    const double shares = std::min<double>(threads, extent);
    return cycles * std::ceil(extent / shares) / extent + kForkCycles;
  }

  const FunctionNest& function_;
  BufferUses uses_;
  const Target& target_;
  const Core& core_;
  std::vector<const LoopNest*> path_;
  Work work_;
};

void add_up(Estimate& estimate) {
  const double all = estimate.compute_cycles + estimate.l2_cycles + estimate.memory_cycles;
  const double longest = std::max({estimate.compute_cycles, estimate.l2_cycles, estimate.memory_cycles});
  estimate.cycles = longest + kNotHidden * (all - longest);
}

}  // namespace

Estimate estimate(const ir::Function& function, const Target& target, std::uint32_t threads) {
  const FunctionNest nest = nest_of(function);
  const Core core = core_of(target);
  Estimate estimate;
  const Sum sum(nest, target, core);
  estimate.compute_cycles = sum.cycles(threads);
  estimate.one_thread_compute_cycles = threads > 1 ? sum.cycles(1) : estimate.compute_cycles;
  const auto lines = lines_of(nest, core);
  const auto cycles = [&](std::size_t level) {
    return lines[level].in_row * core.caches[level].line_cycles +
           lines[level].lone * core.caches[level].lone_line_cycles;
  };
  // Threads have a first level each, and share what is beyond the second.
  double share = 1;
  if (threads > 1) share = std::min(1.0, estimate.compute_cycles / estimate.one_thread_compute_cycles);
  estimate.l2_cycles = cycles(0) * share;
  estimate.memory_cycles = cycles(1) * std::max(share, kMemoryShare);
  add_up(estimate);
  return estimate;
}

Estimate with_compute_cycles(const Estimate& estimate, double one_thread) {
  Estimate other = estimate;
  other.compute_cycles *= one_thread / estimate.one_thread_compute_cycles;
  other.one_thread_compute_cycles = one_thread;
  add_up(other);
  return other;
}

}  // namespace ferry::cost
