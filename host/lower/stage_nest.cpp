#include "host/lower/stage_nest.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/zero.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"
#include "host/lower/accumulators.h"
#include "host/lower/guarded_loads.h"
#include "host/lower/thread_reduction.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace ferry::lower {

using namespace ir;
using schedule::Loop;
using schedule::StageLoops;

namespace {

// Whether every iteration of a reduction loop has a partial result of its own.
bool holds_partials(const LoopCopy& copy) {
  return copy.loop.reduces && (copy.loop.kind == ForKind::vectorized || is_on_thread(copy));
}

class StageNest {
 public:
  StageNest(const Nest& nest, const std::vector<Loop>& around, const LoopBody& loop_body)
      : nest_(nest), around_(around), loop_body_(loop_body) {
    const StageLoops& loops = nest.loops;
    for (std::size_t id : loops.order()) order_.push_back({loops.loop(id), id});
    check_extents();
    unroll_advised();
    for (const StageLoops::AxisValue& axis : loops.axis_values()) axis_values_[axis.axis.get()] = axis.value;
    guards_ = loops.guards();
    for (const Expr& condition : nest.conditions()) guards_.push_back(at_point(condition));
    std::vector<Expr> point;
    for (const Axis& axis : nest.stage->axes) point.push_back(axis_values_.at(axis.var.get()));
    for (const Storage& storage : nest.storage) points_.push_back(storage.indices(point));
  }

  Stmt build() {
    const auto* reduce = nest_.reduction();
    return reduce ? build_reduction(*reduce) : build_injective();
  }

 private:
  void check_extents() const {
    for (const LoopCopy& copy : order_) {
      const bool vectorized = copy.loop.kind == ForKind::vectorized;
      if ((!vectorized && copy.loop.kind != ForKind::unrolled) || as_int(copy.loop.extent) != nullptr) continue;
      throw CompileError("'" + nest_.name() + "': expected a constant extent for the " +
                         (vectorized ? "vectorized" : "unrolled") + " axis '" + copy.loop.name +
                         "', got one that is known only at run time; split it and take the inner axis");
    }
  }

  // Unrolls loops as `pragma auto_unroll_max_step` asks.
  void unroll_advised() {
    for (const auto& [id, steps] : nest_.stage->unroll_steps) {
      std::int64_t copies = 1;
      for (std::size_t i = order_.size(); i-- > 0 && order_[i].id != id;) {
        const std::int64_t* extent = as_int(order_[i].loop.extent);
        if (extent == nullptr || *extent < 1) break;
        if (order_[i].loop.kind == ForKind::vectorized) continue;
        if (*extent > steps / copies) break;
        copies *= *extent;
        if (order_[i].loop.kind == ForKind::serial) order_[i].loop.kind = ForKind::unrolled;
      }
    }
  }

  // Wraps the body in the loops, given outermost first.
  static Stmt wrap(const std::vector<LoopCopy>& loops, Stmt body) {
    for (auto copy = loops.rbegin(); copy != loops.rend(); ++copy)
      body = For::make(copy->loop.var, Expr(0), copy->loop.extent, copy->loop.kind, std::move(body));
    return body;
  }

  // The same, including the stages attached to the loops.
  Stmt wrap_with_guests(const std::vector<LoopCopy>& loops, Stmt body) const {
    for (auto copy = loops.rbegin(); copy != loops.rend(); ++copy) {
      const auto is_real = is_real_.find(copy->id);
      body = loop_body_(copy->id, std::move(body), is_real == is_real_.end() ? Expr() : is_real->second);
      body = For::make(copy->loop.var, Expr(0), copy->loop.extent, copy->loop.kind, std::move(body));
    }
    return body;
  }

  Expr at_point(const Expr& expr) const { return substitute(expr, axis_values_); }

  Stmt store_all(const std::vector<Expr>& values) const {
    std::vector<Stmt> stores;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const BufferRef& into = nest_.storage[i].buffer;
      stores.push_back(Store::make(into, points_[i], cast(into->dtype, values[i])));
    }
    return Block::make(std::move(stores));
  }

  Stmt build_injective() const {
    std::vector<Expr> values;
    for (const Expr& value : nest_.values) values.push_back(at_point(value));
    return wrap_with_guests(order_, guarded(guards_, store_all(values)));
  }

  // Returns accumulators in the results' own elements, if these cover the whole tuple in the accumulation type.
  std::optional<Accumulators> results_as_accumulators(const Reduce& reduce) const {
    Accumulators result;
    result.are_local = false;
    result.buffers.resize(reduce.sources.size());
    result.indices.resize(reduce.sources.size());
    for (std::size_t i = 0; i < nest_.values.size(); ++i) {
      const std::size_t component = nest_.values[i].as<Reduce>()->component;
      result.buffers[component] = nest_.storage[i].buffer;
      result.indices[component] = points_[i];
    }
    for (std::size_t i = 0; i < result.buffers.size(); ++i)
      if (result.buffers[i] == nullptr || result.buffers[i]->dtype != reduce.sources[i].type().code)
        return std::nullopt;
    return result;
  }

  std::vector<Expr> initial_values(const Reduce& reduce) const {
    std::vector<Expr> values;
    for (const Expr& init : reduce.init.empty() ? reduce.reducer->identity : reduce.init)
      values.push_back(at_point(init));
    return values;
  }

  // Whether a guard differs between lanes of the tile and does not depend on the reduction's loops.
  bool only_picks_lanes(const Expr& guard, const std::vector<LoopCopy>& tile) const {
    const bool differs = std::any_of(tile.begin(), tile.end(), [&](const LoopCopy& copy) {
      return copy.loop.kind == ForKind::vectorized && uses_var(guard, copy.loop.var);
    });
    return differs && !uses_reduction(guard);
  }

  bool uses_reduction(const Expr& guard) const {
    return std::any_of(order_.begin(), order_.end(),
                       [&](const LoopCopy& copy) { return copy.loop.reduces && uses_var(guard, copy.loop.var); });
  }

  // Initial values may be loaded from memory that exists only for real results; lanes beyond the last result, which
  // take part in the updates, start from the identity.
  Stmt initialise(const Reduce& reduce, const Accumulators& acc, const std::vector<LoopCopy>& tile) const {
    std::vector<Expr> values = initial_values(reduce), conditions;
    if (reduce.init.empty()) return store_each(acc, values);
    for (const Expr& guard : result_guards()) {
      if (!only_picks_lanes(guard, tile)) {
        conditions.push_back(guard);
        continue;
      }
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = if_then_else(guard, values[i], reduce.reducer->identity[i]);
    }
    return guarded(conditions, store_each(acc, values));
  }

  // Guards that only use loops over results; a guard over a reduction loop does not affect which results exist.
  std::vector<Expr> result_guards() const {
    std::vector<Expr> result;
    for (const Expr& guard : guards_)
      if (!uses_reduction(guard)) result.push_back(guard);
    return result;
  }

  static std::vector<LoopCopy> results_among(std::vector<LoopCopy>::const_iterator first,
                                             std::vector<LoopCopy>::const_iterator last) {
    std::vector<LoopCopy> tile;
    std::copy_if(first, last, std::back_inserter(tile), [](const LoopCopy& copy) { return !copy.loop.reduces; });
    return tile;
  }

  static bool is_register_tile(const std::vector<LoopCopy>& tile) {
    return std::all_of(tile.begin(), tile.end(), [](const LoopCopy& copy) {
      return copy.loop.kind == ForKind::vectorized || copy.loop.kind == ForKind::unrolled;
    });
  }

  // Returns the outermost loop inside which partial results are kept in accumulators: the outermost reduction loop
  // inside which all loops over results are unrolled or vectorized; otherwise the outermost one whose tile fits the
  // stack; otherwise the outermost reduction loop.
  std::vector<LoopCopy>::const_iterator accumulated_from(const Reduce& reduce) const {
    const auto is_reduction = [](const LoopCopy& copy) { return copy.loop.reduces; };
    // A tensorized nest consists only of updates, so the accumulators must be defined outside it.
    const auto last = std::find_if(order_.begin(), order_.end(), [&](const LoopCopy& copy) {
      return nest_.stage->tensorized && copy.id == nest_.stage->tensorized->loop;
    });
    const auto first = std::min(std::find_if(order_.begin(), order_.end(), is_reduction), last);
    const bool has_lanes = std::any_of(order_.begin(), order_.end(), holds_partials);
    if (has_lanes || !results_as_accumulators(reduce)) return first;
    auto best = order_.end();
    for (auto at = first; at <= last && at != order_.end(); at = std::find_if(at + 1, order_.end(), is_reduction)) {
      const std::vector<LoopCopy> tile = results_among(at, order_.end());
      if (!fits_stack(reduce, tile)) continue;
      if (is_register_tile(tile)) return at;
      if (best == order_.end()) best = at;
    }
    return best == order_.end() ? first : best;
  }

  Stmt build_reduction(const Reduce& reduce) {
    const auto first = accumulated_from(reduce);
    std::vector<LoopCopy> outside(order_.cbegin(), first);
    run_at_least_once(outside);
    const std::vector<LoopCopy> inside(first, order_.cend());
    const std::vector<LoopCopy> tile = results_among(first, order_.cend());
    std::vector<LoopCopy> lanes;  // loops over partial results
    std::copy_if(inside.begin(), inside.end(), std::back_inserter(lanes), holds_partials);
    if (std::any_of(lanes.begin(), lanes.end(), is_on_thread)) return reduce_on_threads(reduce, outside, inside, lanes);
    std::vector<LoopCopy> partial = tile;
    partial.insert(partial.end(), lanes.begin(), lanes.end());

    std::optional<Accumulators> results;
    if (lanes.empty() && !fits_stack(reduce, tile)) results = results_as_accumulators(reduce);
    const Accumulators acc = results ? *results : make_accumulators(reduce, partial, nest_.name() + "_acc");
    const std::vector<Expr> result_guard = result_guards();
    // Partial results start from the identity; the initial value is combined once, at the end.
    Stmt init = !lanes.empty()  ? store_each(acc, reduce.reducer->identity)
                : acc.are_local ? initialise(reduce, acc, tile)
                                : guarded(result_guard, store_each(acc, initial_values(reduce)));
    Stmt start = wrap(partial, std::move(init));
    if (const Expr is_first = at_first_iteration(outside); is_first.defined())
      start = If::make(is_first, std::move(start), wrap(tile, resume(reduce, acc, tile)));
    Stmt update = build_update(reduce, acc, tile);

    std::vector<Stmt> steps = {std::move(start), wrap_with_guests(inside, std::move(update))};
    if (!lanes.empty())
      steps.push_back(wrap(tile, guarded(result_guard, combine_lanes(reduce, acc, lanes))));
    else if (acc.are_local)
      steps.push_back(wrap(tile, store_picked(acc, tile)));
    Stmt body = Block::make(std::move(steps));
    if (acc.are_local) body = allocated(acc, std::move(body));
    return wrap_with_guests(outside, std::move(body));
  }

  // All threads must reach the combination of their partial results, so only the store is guarded. The thread that
  // stores combines the initial value.
  Stmt reduce_on_threads(const Reduce& reduce, std::vector<LoopCopy> outside, const std::vector<LoopCopy>& inside,
                         const std::vector<LoopCopy>& threads) const {
    if (!std::all_of(threads.begin(), threads.end(), is_on_thread))
      throw CompileError("'" + nest_.name() + "': expected a reduction by threads or by lanes of vectors, got both");
    const std::vector<LoopCopy> tile = results_among(inside.begin(), inside.end());
    std::vector<LoopCopy> partial = tile, around;
    partial.insert(partial.end(), threads.begin(), threads.end());
    for (const Loop& loop : around_) around.push_back({loop, 0});
    around.insert(around.end(), outside.begin(), outside.end());
    const Accumulators acc = make_thread_accumulators(reduce, around, partial, threads, nest_.name() + "_acc");
    const Accumulators total = make_accumulators(reduce, {}, nest_.name() + "_total");
    std::vector<Expr> results = picked(total);
    if (!reduce.init.empty()) {
      const std::vector<Expr> all = joined(reduce, initial_values(reduce), total);
      for (std::size_t i = 0; i < results.size(); ++i) results[i] = all[nest_.values[i].as<Reduce>()->component];
    }
    Stmt finish =
        Block::make({store_each(total, reduce.reducer->identity), combine_threads(reduce, total, acc, threads),
                     guarded(result_guards(), store_all(results))});
    finish = allocated(total, std::move(finish));
    Stmt body = Block::make({wrap(partial, store_each(acc, reduce.reducer->identity)),
                             wrap_with_guests(inside, build_update(reduce, acc, tile)), wrap(tile, std::move(finish))});
    return wrap_with_guests(outside, allocated(acc, std::move(body)));
  }

  // The first iteration of a reduction loop sets the initial values of the results, so there must be at least one.
  void run_at_least_once(std::vector<LoopCopy>& loops) {
    Expr is_real;
    for (LoopCopy& copy : loops) {
      if (copy.loop.reduces && !passes::can_prove(copy.loop.extent >= Expr(1))) {
        guards_.push_back(copy.loop.var < copy.loop.extent);
        is_real = is_real.defined() ? is_real && guards_.back() : guards_.back();
        copy.loop.extent = max(copy.loop.extent, Expr(1));
      }
      if (is_real.defined()) is_real_[copy.id] = is_real;
    }
    for (auto copy = order_.begin() + std::ssize(loops); is_real.defined() && copy != order_.end(); ++copy)
      is_real_[copy->id] = is_real;
  }

  // Returns the condition that these reduction loops are in their first iteration; undefined if there are none.
  static Expr at_first_iteration(const std::vector<LoopCopy>& loops) {
    Expr condition;
    for (const LoopCopy& copy : loops) {
      if (!copy.loop.reduces) continue;
      const Expr is_first = copy.loop.var == Expr(0);
      condition = condition.defined() ? condition && is_first : is_first;
    }
    return condition;
  }

  // Loads the partial results that earlier iterations have stored.
  Stmt resume(const Reduce& reduce, const Accumulators& acc, const std::vector<LoopCopy>& tile) const {
    const Accumulators results = *results_as_accumulators(reduce);
    std::vector<Expr> values, conditions;
    for (std::size_t i = 0; i < acc.buffers.size(); ++i) values.push_back(results.load(i));
    for (const Expr& guard : result_guards()) {
      if (!only_picks_lanes(guard, tile)) {
        conditions.push_back(guard);
        continue;
      }
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = if_then_else(guard, values[i], reduce.reducer->identity[i]);
    }
    return guarded(conditions, store_each(acc, values));
  }

  Stmt build_update(const Reduce& reduce, const Accumulators& acc, const std::vector<LoopCopy>& tile) const {
    std::vector<Expr> sources;
    for (const Expr& source : reduce.sources) sources.push_back(at_point(source));
    std::vector<Expr> conditions;
    for (const Expr& guard : guards_) {
      if (!acc.are_local || !only_picks_lanes(guard, tile)) {
        conditions.push_back(guard);
        continue;
      }
      // Lanes beyond the last result are never stored: they may accumulate anything but must read nothing. This keeps
      // the accumulators whole vectors.
      for (Expr& source : sources) source = guard_loads(source, guard);
    }
    if (reduce.condition.defined()) conditions.push_back(at_point(reduce.condition));
    skip_zeros(reduce, tile, sources, conditions);
    return guarded(conditions, combine(reduce, acc, sources));
  }

  // A sum that starts at 0 never becomes -0, so adding 0 changes nothing. Where the source is 0 for a whole tile, as at
  // the border of a convolution, the tile and the loops around it are skipped.
  void skip_zeros(const Reduce& reduce, const std::vector<LoopCopy>& tile, std::vector<Expr>& sources,
                  std::vector<Expr>& conditions) const {
    if (reduce.reducer->op != ReduceOp::sum || !reduce.init.empty() || sources.size() != 1) return;
    Expr condition, value, otherwise;
    if (const auto* guarded_value = sources[0].as<IfThenElse>()) {
      condition = guarded_value->condition, value = guarded_value->on_true, otherwise = guarded_value->on_false;
    } else if (const auto* choice = sources[0].as<Select>()) {
      condition = choice->condition, value = choice->on_true, otherwise = choice->on_false;
    }
    if (!condition.defined() || !is_positive_zero(passes::simplify(otherwise))) return;
    const auto differs = [&](const LoopCopy& copy) { return uses_var(condition, copy.loop.var); };
    const bool in_lanes = std::any_of(order_.begin(), order_.end(), [&](const LoopCopy& copy) {
      return copy.loop.kind == ForKind::vectorized && differs(copy);
    });
    if (in_lanes || std::any_of(tile.begin(), tile.end(), differs)) return;
    conditions.push_back(condition);
    sources[0] = value;
  }

  // All lanes of an accumulator are initialised and are read regardless of the guards of single lanes: whole vectors
  // stay in registers.
  Stmt store_picked(const Accumulators& acc, const std::vector<LoopCopy>& tile) const {
    std::vector<Expr> lanes, others, names;
    for (const Expr& guard : result_guards()) (only_picks_lanes(guard, tile) ? lanes : others).push_back(guard);
    const std::vector<Expr> values = picked(acc);
    if (lanes.empty()) return guarded(others, store_all(values));
    for (const Expr& value : values) names.push_back(Var::make("result", value.type()));
    Stmt body = guarded(lanes, store_all(names));
    for (std::size_t i = values.size(); i-- > 0;) body = LetStmt::make(names[i], values[i], std::move(body));
    return guarded(others, std::move(body));
  }

  // Returns the components that are outputs of the stage.
  std::vector<Expr> picked(const Accumulators& acc) const {
    std::vector<Expr> values;
    for (const Expr& value : nest_.values) values.push_back(acc.load(value.as<Reduce>()->component));
    return values;
  }

  Stmt combine_lanes(const Reduce& reduce, const Accumulators& acc, const std::vector<LoopCopy>& lanes) const {
    const Accumulators total = make_accumulators(reduce, {}, nest_.name() + "_total");
    std::vector<Expr> values;
    for (std::size_t i = 0; i < acc.buffers.size(); ++i) values.push_back(acc.load(i));
    return allocated(total, Block::make({store_each(total, initial_values(reduce)),
                                         wrap(lanes, combine(reduce, total, values)), store_all(picked(total))}));
  }

  const Nest& nest_;
  const std::vector<Loop>& around_;
  const LoopBody& loop_body_;
  std::unordered_map<std::size_t, Expr> is_real_;  // by loop, as LoopBody takes it
  std::vector<Expr> guards_;
  std::vector<LoopCopy> order_;
  Substitution axis_values_;
  std::vector<std::vector<Expr>> points_;  // one for each output
};

}  // namespace

Stmt stage_nest(const Nest& nest, const std::vector<Loop>& around, const LoopBody& loop_body) {
  return StageNest(nest, around, loop_body).build();
}

}  // namespace ferry::lower
