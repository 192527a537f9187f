#include "host/lower/padded_copy.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"
#include "host/lower/thread_reduction.h"
#include "host/schedule/stages/padded_loads.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ferry::lower {

using namespace ir;

namespace {

bool is_copy(const Nest& nest, const NestLoops& loops) {
  const auto is_on_gpu = [](const LoopCopy& copy) { return is_on_thread(copy) || is_block(copy.loop.kind); };
  return nest.values.size() == 1 && nest.values[0].as<Load>() != nullptr && nest.stage->external == nullptr &&
         !nest.stage->is_scatter() && nest.storage[0].folds.empty() && std::ranges::none_of(loops.order(), is_on_gpu);
}

bool uses_any(const Expr& expr, const std::vector<Expr>& variables) {
  return std::ranges::any_of(variables, [&](const Expr& var) { return uses_var(expr, var); });
}

// Whether the index takes every value from 0 to extent - 1: it is a sum of loops of which each steps over all values of
// those before it.
bool takes_every_value(const Expr& index, const Expr& extent, const NestLoops& loops) {
  std::vector<schedule::Loop> all;
  for (const LoopCopy& copy : loops.order()) all.push_back(copy.loop);
  Expr rest = passes::simplify(index, facts_of(all));
  std::vector<std::pair<std::int64_t, Expr>> steps;
  for (const LoopCopy& copy : loops.order()) {
    if (!uses_var(rest, copy.loop.var)) continue;
    const auto affine = analysis::affine_in(rest, copy.loop.var);
    if (!affine || affine->coefficient < 1) return false;
    steps.emplace_back(affine->coefficient, copy.loop.extent);
    rest = affine->rest;
  }
  if (!passes::can_prove(rest == Expr(0))) return false;
  std::ranges::sort(steps, {}, [](const auto& step) { return step.first; });
  Expr covered(1);
  for (const auto& [coefficient, count] : steps) {
    if (!passes::can_prove(covered == Expr(coefficient))) return false;
    covered = passes::simplify(count * coefficient);
  }
  // Negative sizes have no iterations in which anything is read.
  std::vector<Expr> sizes;
  for (const Expr& size : free_vars(extent)) sizes.push_back(size >= Expr(0));
  return passes::can_prove(covered >= extent, sizes);
}

// Whether the loops, without their guards, store every element of the stage's memory along the dimensions whose indices
// use one of the variables.
bool covers(const Nest& nest, const NestLoops& loops, const std::vector<Expr>& variables) {
  const std::vector<Expr>&point = loops.points()[0], &shape = nest.storage[0].buffer->shape;
  for (std::size_t d = 0; d < point.size(); ++d)
    if (uses_any(point[d], variables) && !takes_every_value(point[d], shape[d], loops)) return false;
  return true;
}

// Whether a stage stores every element of its memory along a dimension, those included that its padded guards exclude.
bool fills(const Nest& nest, const NestLoops& loops, std::size_t dimension) {
  const Expr& index = loops.points()[0][dimension];
  if (!takes_every_value(index, nest.storage[0].buffer->shape[dimension], loops)) return false;
  const std::vector<Expr> padded = padded_guards(nest, loops);
  return std::ranges::all_of(loops.guards(), [&](const Expr& guard) {
    const auto is_it = [&](const Expr& other) { return other.same_as(guard); };
    return !uses_any(index, free_vars(guard)) || std::ranges::any_of(padded, is_it);
  });
}

}  // namespace

bool is_lane_guard(const Expr& guard, const std::vector<LoopCopy>& loops) {
  return std::ranges::any_of(loops, [&](const LoopCopy& copy) {
    return copy.loop.kind == ForKind::vectorized && uses_var(guard, copy.loop.var);
  });
}

std::vector<Expr> padded_guards(const Nest& nest, const NestLoops& loops) {
  // A guard that loads may rely on others for its indices.
  const auto reads = [](const Expr& guard) { return contains(guard, {ExprKind::Load}); };
  if (!is_copy(nest, loops) || std::ranges::any_of(loops.guards(), reads)) return {};
  std::vector<analysis::Range> ranges;
  for (const LoopCopy& copy : loops.order()) ranges.push_back({copy.loop.var, Expr(0), copy.loop.extent});
  const Expr stored = Load::make(nest.storage[0].buffer, loops.points()[0]);
  std::vector<Expr> padded;
  for (const Expr& guard : loops.guards())
    if (is_lane_guard(guard, loops.order()) && schedule::exists_without(guard, *stored.as<Load>(), ranges) &&
        covers(nest, loops, free_vars(guard)))
      padded.push_back(guard);
  return padded;
}

bool is_padded(const Nests& nests, const Load& load, const Expr& guard, std::span<const analysis::Range> loops) {
  const auto source = std::ranges::find_if(nests, [&](const Nest& nest) {
    return nest.stage->outputs.size() == 1 && nest.stage->outputs[0].get() == load.buffer.get();
  });
  if (source == nests.end()) return false;
  const NestLoops stores(*source, {});
  if (!is_copy(*source, stores)) return false;
  const std::vector<Expr> guarded = free_vars(guard), indices = source->storage[0].indices(load.indices);
  for (std::size_t d = 0; d < indices.size(); ++d)
    if (uses_any(indices[d], guarded) && !fills(*source, stores, d)) return false;
  const Expr stored = Load::make(source->storage[0].buffer, indices);
  return schedule::exists_without(guard, *stored.as<Load>(), loops);
}

}  // namespace ferry::lower
