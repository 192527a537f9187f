#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/interpreter_code.h"

#include <algorithm>

namespace ferry::ir::interp {

LoopNest::LoopNest(const For& outermost, bool (*belongs)(ForKind), Layout& layout) {
  const For* loop = &outermost;
  while (true) {
    Level level;
    level.min = compile(loop->min, layout);
    level.extent = compile(loop->extent, layout);
    level.slot = layout.define(loop->var);
    levels_.push_back(std::move(level));
    body_ = loop->body;
    const For* inner = loop->body.as<For>();
    if (inner == nullptr || !belongs(loop->for_kind) || !belongs(inner->for_kind)) return;
    loop = inner;
  }
}

LoopNest::Bounds LoopNest::bounds(Frame& frame, std::int64_t limit, const char* too_many) const {
  Bounds bounds;
  for (const Level& level : levels_) {
    bounds.mins.push_back(index_of(level.min->eval(frame, 0)));
    bounds.extents.push_back(std::max<std::int64_t>(0, index_of(level.extent->eval(frame, 0))));
    if (__builtin_mul_overflow(bounds.count, bounds.extents.back(), &bounds.count) || bounds.count > limit)
      throw InterpreterError(too_many);
  }
  return bounds;
}

void LoopNest::set(std::int64_t iteration, const Bounds& bounds, std::vector<Value>& slots) const {
  for (std::size_t i = levels_.size(); i-- > 0; iteration /= bounds.extents[i])
    slots[levels_[i].slot] = Value::of(static_cast<std::uint64_t>(bounds.mins[i]) +
                                       static_cast<std::uint64_t>(iteration % bounds.extents[i]));
}

}  // namespace ferry::ir::interp
