#include "host/lower/prefetch.h"

#include "crosscompile/ir/operators.h"
#include "crosscompile/ir/prefetch.h"
#include "crosscompile/ir/substitute.h"
#include "host/schedule/stages/access.h"

#include <algorithm>

namespace ferry::lower {

using namespace ir;

namespace {

// The stage's axes in the first iteration of the loops inside of `loop`, `offset` iterations of `loop` later.
Substitution later_point(const Nest& nest, std::size_t loop, std::int64_t offset) {
  Substitution loops;
  bool inside = false;
  for (std::size_t id : nest.loops.order()) {
    if (inside) loops[nest.loops.loop(id).var.get()] = Expr(0);
    if (id == loop) {
      loops[nest.loops.loop(id).var.get()] = nest.loops.loop(id).var + offset;
      inside = true;
    }
  }
  Substitution axes;
  for (const schedule::StageLoops::AxisValue& axis : nest.loops.axis_values())
    axes[axis.axis.get()] = substitute(axis.value, loops);
  return axes;
}

bool same_place(const Expr& a, const Expr& b) {
  const auto& left = a.as<Load>()->indices;
  const auto& right = b.as<Load>()->indices;
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Expr& x, const Expr& y) { return equal(x, y); });
}

}  // namespace

Stmt with_prefetches(const Nest& nest, std::size_t loop, Stmt body) {
  std::vector<Stmt> steps;
  for (const schedule::ScheduledStage::Prefetch& wanted : nest.stage->prefetches) {
    if (wanted.loop != loop) continue;
    const Substitution point = later_point(nest, loop, wanted.offset);
    std::vector<Expr> asked;
    for (const Expr& value : nest.values)
      for (const Load* load : schedule::loads_of(value)) {
        if (load->buffer != wanted.tensor) continue;
        std::vector<Expr> indices;
        for (const Expr& index : load->indices) indices.push_back(substitute(index, point));
        // A stage that was inlined may read the tensor through another one.
        if (std::any_of(indices.begin(), indices.end(), [](const Expr& i) { return !schedule::loads_of(i).empty(); }))
          continue;
        const Expr place = Load::make(load->buffer, std::move(indices));
        if (std::any_of(asked.begin(), asked.end(), [&](const Expr& other) { return same_place(other, place); }))
          continue;
        asked.push_back(place);
        steps.push_back(make_prefetch(place));
      }
  }
  if (steps.empty()) return body;
  steps.push_back(std::move(body));
  return Block::make(std::move(steps));
}

}  // namespace ferry::lower
