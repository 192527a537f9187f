// Parallel loops, and the blocks of a GPU's grid: the iterations run one after the other in a shuffled order. The
// memory records which iteration of the outermost parallel loop accessed each element; an inner parallel loop runs on
// the thread of the outer one.
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/interpreter_code.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ferry::ir::interp {
namespace {

std::uint64_t next_random(Frame& frame) {
  frame.random ^= frame.random << 13;
  frame.random ^= frame.random >> 7;
  frame.random ^= frame.random << 17;
  return frame.random;
}

struct ParallelLoop final : Action {
  LoopNest loops;
  ActionPtr body;
  ParallelLoop(const For& node, Layout& layout) : loops(node, is_block, layout), body(compile(loops.body(), layout)) {}

  std::int32_t run(Frame& frame) const override {
    const LoopNest::Bounds bounds =
        loops.bounds(frame, std::numeric_limits<std::int64_t>::max(), "a grid has more blocks than can be counted");
    const std::int64_t count = bounds.count;
    if (count == 0) return 0;
    const bool outermost = frame.clock.loop_began == kNever;
    const Stamp caller = frame.workspaces.thread_id;
    if (outermost) frame.clock.loop_began = frame.clock.tick();
    // A step that is coprime to the count visits every iteration once.
    std::int64_t step = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(count) * 0.618));
    while (std::gcd(step, count) != 1) ++step;
    std::int64_t i = static_cast<std::int64_t>(next_random(frame) % static_cast<std::uint64_t>(count));
    std::int32_t result = 0;
    for (std::int64_t done = 0; done < count && result == 0; ++done) {
      if (outermost) {
        frame.clock.iteration_began = frame.clock.tick();
        frame.workspaces.thread_id = frame.clock.now;
      }
      loops.set(i, bounds, frame.slots);
      result = body->run(frame);
      i = i >= count - step ? i - (count - step) : i + step;
    }
    if (outermost) {
      frame.clock.tick();
      frame.clock.loop_began = frame.clock.iteration_began = kNever;
      frame.workspaces.thread_id = caller;
    }
    return result;
  }
};

}  // namespace

ActionPtr compile_parallel(const For& node, Layout& layout) { return std::make_unique<ParallelLoop>(node, layout); }

}  // namespace ferry::ir::interp
