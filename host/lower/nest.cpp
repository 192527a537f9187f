#include "host/lower/nest.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>

namespace ferry::lower {

using schedule::Attachment;
using schedule::ComputeKind;
using schedule::Loop;

namespace {

// Appends the loops of the nest from the outermost through `last`.
void append_through(const Nest& nest, std::size_t last, std::vector<Loop>& loops) {
  for (std::size_t id : nest.loops.order()) {
    loops.push_back(nest.loops.loop(id));
    if (id == last) return;
  }
  throw CompileError("'" + nest.name() + "': expected the axis '" + nest.loops.loop(last).name +
                     "', where another stage is computed, to be one of its loops");
}

void append_all(const Nest& nest, std::vector<Loop>& loops) {
  for (std::size_t id : nest.loops.order()) loops.push_back(nest.loops.loop(id));
}

// Appends the loops of the nest after `outer` through `last`.
void append_after(const Nest& nest, std::size_t outer, std::vector<Loop>& loops, std::size_t last) {
  bool inside = false;
  for (std::size_t id : nest.loops.order()) {
    if (inside) loops.push_back(nest.loops.loop(id));
    inside |= id == outer;
    if (id == last) return;
  }
}

constexpr std::size_t kNoLoop = static_cast<std::size_t>(-1);

// Appends the loops between `place` and the loop `at`, inclusive, to which a stage is attached.
void append_between(const Nests& nests, const Attachment& at, const Attachment& place, std::vector<Loop>& loops) {
  if (at.stage.empty()) return;
  const Nest& nest = *find_nest(nests, at.stage);
  if (nest.name() == place.stage) {
    if (at.loop != place.loop) append_after(nest, place.loop, loops, at.loop);
    return;
  }
  if (nest.stage->compute_kind == ComputeKind::attached) append_between(nests, nest.stage->compute_at, place, loops);
  append_through(nest, at.loop, loops);
}

}  // namespace

Expr RequiredRange::highest() const { return last.defined() ? last : passes::simplify(min + extent - 1); }

std::vector<Expr> Storage::indices(const std::vector<Expr>& point) const {
  std::vector<Expr> positions;
  for (std::size_t i = 0; i < point.size(); ++i) {
    Expr position = origin.empty() ? point[i] : point[i] - origin[i];
    if (!folds.empty() && folds[i] != 0) position = position % Expr(folds[i]);
    positions.push_back(std::move(position));
  }
  if (layout == nullptr) return positions;
  std::vector<Expr> result;
  for (const schedule::LayoutPart& part : *layout) {
    Expr index = positions[part.axis];
    if (part.divisor != 1) index = index / Expr(part.divisor);
    if (part.modulus != 0) index = index % Expr(part.modulus);
    result.push_back(std::move(index));
  }
  return result;
}

std::vector<Expr> Nest::expressions() const {
  std::vector<Expr> all = values;
  all.insert(all.end(), place.begin(), place.end());
  return all;
}

std::vector<ir::Axis> Nest::all_axes() const {
  std::vector<ir::Axis> axes = stage->axes;
  if (const ir::Reduce* reduce = reduction()) axes.insert(axes.end(), reduce->axes.begin(), reduce->axes.end());
  return axes;
}

std::vector<Expr> Nest::conditions() const {
  std::vector<Expr> conditions;
  for (std::size_t i = 0; i < required.size(); ++i) {
    if (required[i].first.defined()) conditions.push_back(stage->axes[i].var >= required[i].first);
    if (required[i].last.defined()) conditions.push_back(stage->axes[i].var <= required[i].last);
  }
  return conditions;
}

const Nest* find_nest(const Nests& nests, const std::string& stage) {
  const auto found = std::find_if(nests.begin(), nests.end(), [&](const Nest& nest) { return nest.name() == stage; });
  return found == nests.end() ? nullptr : &*found;
}

std::vector<Loop> loops_inside(const Nests& nests, const Nest& nest, const Attachment& place) {
  std::vector<Loop> loops;
  if (nest.name() == place.stage) {
    append_after(nest, place.loop, loops, kNoLoop);
    return loops;
  }
  if (nest.stage->compute_kind == ComputeKind::attached) append_between(nests, nest.stage->compute_at, place, loops);
  append_all(nest, loops);
  return loops;
}

std::vector<Loop> loops_around(const Nests& nests, const Attachment& place) {
  std::vector<Loop> loops;
  append_between(nests, place, {}, loops);
  return loops;
}

std::vector<Expr> facts_of(const std::vector<Loop>& loops) {
  std::vector<Expr> facts;
  for (const Loop& loop : loops) {
    facts.push_back(loop.var >= Expr(0));
    facts.push_back(loop.var < loop.extent);
  }
  return facts;
}

}  // namespace ferry::lower
