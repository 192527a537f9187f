// Parallel loops, and the blocks of a GPU's grid: one iteration after the other in a shuffled order. The memory notes
// which iteration of the outermost parallel loop touched what; an inner one runs on its thread.
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/interpreter_code.h"

#include <algorithm>
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
  // Several, outermost first, where loops over blocks stand in each other.
  struct Range {
    std::size_t slot = 0;
    CodePtr min, extent;
  };
  std::vector<Range> ranges;
  ActionPtr body;

  std::int32_t run(Frame& frame) const override {
    std::vector<std::int64_t> mins, extents;
    std::int64_t count = 1;
    for (const Range& range : ranges) {
      mins.push_back(index_of(range.min->eval(frame, 0)));
      extents.push_back(std::max<std::int64_t>(0, index_of(range.extent->eval(frame, 0))));
      if (__builtin_mul_overflow(count, extents.back(), &count))
        throw InterpreterError("a grid has more blocks than can be counted");
    }
    if (count == 0) return 0;
    const bool outermost = frame.clock.loop_began == kNever;
    const Stamp caller = frame.workspaces.thread_id;
    if (outermost) frame.clock.loop_began = frame.clock.tick();
    // Steps of a size that has no factor in common with the count visit every iteration once.
    std::int64_t step = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(count) * 0.618));
    while (std::gcd(step, count) != 1) ++step;
    std::int64_t i = static_cast<std::int64_t>(next_random(frame) % static_cast<std::uint64_t>(count));
    std::int32_t result = 0;
    for (std::int64_t done = 0; done < count && result == 0; ++done) {
      if (outermost) {
        frame.clock.iteration_began = frame.clock.tick();
        frame.workspaces.thread_id = frame.clock.now;
      }
      std::int64_t rest = i;
      for (std::size_t r = ranges.size(); r-- > 0; rest /= extents[r]) {
        frame.slots[ranges[r].slot] =
            Value::of(static_cast<std::uint64_t>(mins[r]) + static_cast<std::uint64_t>(rest % extents[r]));
      }
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

ActionPtr compile_parallel(const For& node, Layout& layout) {
  auto action = std::make_unique<ParallelLoop>();
  const For* loop = &node;
  while (true) {
    ParallelLoop::Range range;
    range.min = compile(loop->min, layout);
    range.extent = compile(loop->extent, layout);
    range.slot = layout.define(loop->var);
    action->ranges.push_back(std::move(range));
    const For* inner = loop->body.as<For>();
    if (!is_block(node.for_kind) || inner == nullptr || !is_block(inner->for_kind)) break;
    loop = inner;
  }
  action->body = compile(loop->body, layout);
  return action;
}

}  // namespace ferry::ir::interp
