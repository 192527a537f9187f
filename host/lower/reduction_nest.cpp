#include "host/lower/reduction_nest.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/zero.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "crosscompile/passes/tensorize/tensorize_nest.h"
#include "ferry/operators.h"
#include "host/lower/accumulators.h"
#include "host/lower/guarded_loads.h"
#include "host/lower/padded_copy.h"
#include "host/lower/thread_reduction.h"
#include "host/schedule/stages/padded_loads.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace ferry::lower {

using namespace ir;
using schedule::Loop;

namespace {

// Whether every iteration of a reduction loop has a partial result of its own.
bool holds_partials(const LoopCopy& copy) {
  return copy.loop.reduces && (copy.loop.kind == ForKind::vectorized || is_on_thread(copy));
}

class ReductionNest {
 public:
  ReductionNest(const Nest& nest, const Nests& nests, const std::vector<Loop>& around, NestLoops& loops)
      : nest_(nest), nests_(nests), reduce_(*nest.reduction()), around_(around), loops_(loops) {}

  Stmt build() {
    const auto first = outermost_accumulated_loop();
    std::vector<LoopCopy> outside(loops_.order().cbegin(), first);
    loops_.run_at_least_once(outside);
    const std::vector<LoopCopy> inside(first, loops_.order().cend());
    const std::vector<LoopCopy> tile = results_among(first, loops_.order().cend());
    std::vector<LoopCopy> lanes;  // loops over partial results
    std::copy_if(inside.begin(), inside.end(), std::back_inserter(lanes), holds_partials);
    if (std::any_of(lanes.begin(), lanes.end(), is_on_thread)) return reduce_on_threads(outside, inside, lanes);
    std::vector<LoopCopy> partial = tile;
    partial.insert(partial.end(), lanes.begin(), lanes.end());

    std::optional<Accumulators> results;
    if (lanes.empty() && (!fits_stack(reduce_, tile) || has_whole_tiles(tile))) results = results_as_accumulators();
    const Accumulators acc = results ? *results : make_accumulators(reduce_, partial, nest_.name() + "_acc");
    const std::vector<Expr> result_guard = result_guards();
    // Partial results start from the identity; the initial value is combined once, at the end.
    Stmt init = !lanes.empty()  ? store_each(acc, reduce_.reducer->identity)
                : acc.are_local ? initialise(acc, tile)
                                : guarded(result_guard, store_each(acc, initial_values()));
    Stmt start = wrap_in_loops(partial, std::move(init));
    if (const Expr is_first = at_first_iteration(outside); is_first.defined())
      start = If::make(is_first, std::move(start), wrap_in_loops(tile, load_partial_results(acc, tile)));
    Stmt update = build_update(acc, tile);

    std::vector<Stmt> steps = {std::move(start), loops_.wrap_with_attached_stages(inside, std::move(update))};
    if (!lanes.empty())
      steps.push_back(wrap_in_loops(tile, guarded(result_guard, combine_lanes(acc, lanes))));
    else if (acc.are_local)
      steps.push_back(wrap_in_loops(tile, store_outputs(acc, tile)));
    Stmt body = Block::make(std::move(steps));
    if (acc.are_local) body = allocated(acc, std::move(body));
    return loops_.wrap_with_attached_stages(outside, std::move(body));
  }

 private:
  // Returns accumulators in the results' own elements, if these cover the whole tuple in the accumulation type.
  std::optional<Accumulators> results_as_accumulators() const {
    Accumulators result;
    result.are_local = false;
    result.buffers.resize(reduce_.sources.size());
    result.indices.resize(reduce_.sources.size());
    for (std::size_t i = 0; i < nest_.values.size(); ++i) {
      const std::size_t component = nest_.values[i].as<Reduce>()->component;
      result.buffers[component] = nest_.storage[i].buffer;
      result.indices[component] = loops_.points()[i];
    }
    for (std::size_t i = 0; i < result.buffers.size(); ++i)
      if (result.buffers[i] == nullptr || result.buffers[i]->dtype != reduce_.sources[i].type().code)
        return std::nullopt;
    return result;
  }

  // Whether an instruction keeps the sums in registers of its own and stores whole rows of them: then accumulators on
  // the stack would be copied to the results once more.
  bool has_whole_tiles(const std::vector<LoopCopy>& tile) const {
    return nest_.stage->tensorized && passes::is_instruction(nest_.stage->tensorized->intrinsic) &&
           passes::has_lanes(nest_.stage->tensorized->intrinsic, nest_.stage->tensorized->context.get()) &&
           reduce_.init.empty() &&
           std::ranges::none_of(loops_.guards(), [&](const Expr& guard) { return is_lane_mask(guard, tile); });
  }

  std::vector<Expr> initial_values() const {
    std::vector<Expr> values;
    for (const Expr& init : reduce_.init.empty() ? reduce_.reducer->identity : reduce_.init)
      values.push_back(loops_.at_point(init));
    return values;
  }

  // Whether a guard differs between lanes of the tile and does not depend on the reduction's loops.
  bool is_lane_mask(const Expr& guard, const std::vector<LoopCopy>& tile) const {
    return is_lane_guard(guard, tile) && !uses_reduction(guard);
  }

  bool uses_reduction(const Expr& guard) const {
    return std::any_of(loops_.order().begin(), loops_.order().end(),
                       [&](const LoopCopy& copy) { return copy.loop.reduces && uses_var(guard, copy.loop.var); });
  }

  // Stores values that may be loaded from memory that exists only for real results; lanes beyond the last result, which
  // take part in the updates, start from the identity.
  Stmt store_for_results(const Accumulators& acc, std::vector<Expr> values, const std::vector<LoopCopy>& tile) const {
    std::vector<Expr> conditions;
    for (const Expr& guard : result_guards()) {
      if (!is_lane_mask(guard, tile)) {
        conditions.push_back(guard);
        continue;
      }
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = if_then_else(guard, values[i], reduce_.reducer->identity[i]);
    }
    return guarded(conditions, store_each(acc, values));
  }

  Stmt initialise(const Accumulators& acc, const std::vector<LoopCopy>& tile) const {
    if (reduce_.init.empty()) return store_each(acc, initial_values());
    return store_for_results(acc, initial_values(), tile);
  }

  // Guards that only use loops over results; a guard over a reduction loop does not affect which results exist.
  std::vector<Expr> result_guards() const {
    std::vector<Expr> result;
    for (const Expr& guard : loops_.guards())
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
  std::vector<LoopCopy>::const_iterator outermost_accumulated_loop() const {
    const auto is_reduction = [](const LoopCopy& copy) { return copy.loop.reduces; };
    // A tensorized nest consists only of updates, so the accumulators must be defined outside it.
    const auto last = std::find_if(loops_.order().begin(), loops_.order().end(), [&](const LoopCopy& copy) {
      return nest_.stage->tensorized && copy.id == nest_.stage->tensorized->loop;
    });
    const auto first = std::min(std::find_if(loops_.order().begin(), loops_.order().end(), is_reduction), last);
    const bool has_lanes = std::any_of(loops_.order().begin(), loops_.order().end(), holds_partials);
    if (has_lanes || !results_as_accumulators()) return first;
    auto best = loops_.order().end();
    for (auto at = first; at <= last && at != loops_.order().end();
         at = std::find_if(at + 1, loops_.order().end(), is_reduction)) {
      const std::vector<LoopCopy> tile = results_among(at, loops_.order().end());
      if (!fits_stack(reduce_, tile)) continue;
      if (is_register_tile(tile)) return at;
      if (best == loops_.order().end()) best = at;
    }
    return best == loops_.order().end() ? first : best;
  }

  // All threads must reach the combination of their partial results, so only the store is guarded. The thread that
  // stores combines the initial value.
  Stmt reduce_on_threads(std::vector<LoopCopy> outside, const std::vector<LoopCopy>& inside,
                         const std::vector<LoopCopy>& threads) const {
    if (!std::all_of(threads.begin(), threads.end(), is_on_thread))
      throw CompileError("'" + nest_.name() + "': expected a reduction by threads or by lanes of vectors, got both");
    const std::vector<LoopCopy> tile = results_among(inside.begin(), inside.end());
    std::vector<LoopCopy> partial = tile, around;
    partial.insert(partial.end(), threads.begin(), threads.end());
    for (const Loop& loop : around_) around.push_back({loop, 0});
    around.insert(around.end(), outside.begin(), outside.end());
    const Accumulators acc = make_thread_accumulators(reduce_, around, partial, threads, nest_.name() + "_acc");
    const Accumulators total = make_accumulators(reduce_, {}, nest_.name() + "_total");
    std::vector<Expr> results = output_components(total);
    if (!reduce_.init.empty()) {
      const std::vector<Expr> all = combined_with_total(reduce_, initial_values(), total);
      for (std::size_t i = 0; i < results.size(); ++i) results[i] = all[nest_.values[i].as<Reduce>()->component];
    }
    Stmt finish =
        Block::make({store_each(total, reduce_.reducer->identity), combine_threads(reduce_, total, acc, threads),
                     guarded(result_guards(), loops_.store_all(results))});
    finish = allocated(total, std::move(finish));
    Stmt body = Block::make({wrap_in_loops(partial, store_each(acc, reduce_.reducer->identity)),
                             loops_.wrap_with_attached_stages(inside, build_update(acc, tile)),
                             wrap_in_loops(tile, std::move(finish))});
    return loops_.wrap_with_attached_stages(outside, allocated(acc, std::move(body)));
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
  Stmt load_partial_results(const Accumulators& acc, const std::vector<LoopCopy>& tile) const {
    const Accumulators results = *results_as_accumulators();
    std::vector<Expr> values;
    for (std::size_t i = 0; i < acc.buffers.size(); ++i) values.push_back(results.load(i));
    return store_for_results(acc, std::move(values), tile);
  }

  Stmt build_update(const Accumulators& acc, const std::vector<LoopCopy>& tile) const {
    std::vector<Expr> sources;
    for (const Expr& source : reduce_.sources) sources.push_back(loops_.at_point(source));
    std::vector<Expr> conditions;
    for (const Expr& guard : loops_.guards()) {
      if (!acc.are_local || !is_lane_mask(guard, tile)) {
        conditions.push_back(guard);
        continue;
      }
      // Lanes beyond the last result are never stored: they may accumulate anything but must read nothing. This keeps
      // the accumulators whole vectors.
      for (Expr& source : sources)
        source = guard_loads(source, guard, [&](const Load& load) { return exists_without(guard, load); });
    }
    if (reduce_.condition.defined()) conditions.push_back(loops_.at_point(reduce_.condition));
    skip_zeros(tile, sources, conditions);
    return guarded(conditions, combine(reduce_, acc, sources));
  }

  // Whether the load's elements may be read where the guard fails: a padded tensor has elements for lanes beyond the
  // last result too. An instruction in the place of the loops may also read elements that were never written.
  bool exists_without(const Expr& guard, const Load& load) const {
    std::vector<analysis::Range> ranges;
    for (const Loop& loop : around_) ranges.push_back({loop.var, Expr(0), loop.extent});
    for (const LoopCopy& copy : loops_.order()) ranges.push_back({copy.loop.var, Expr(0), copy.loop.extent});
    if (nest_.stage->tensorized) return schedule::exists_without(guard, load, ranges);
    return is_padded(nests_, load, guard, ranges);
  }

  // A sum that starts at 0 never becomes -0, so adding 0 changes nothing. Where the source is 0 for a whole tile, as at
  // the border of a convolution, the tile and the loops around it are skipped.
  void skip_zeros(const std::vector<LoopCopy>& tile, std::vector<Expr>& sources, std::vector<Expr>& conditions) const {
    if (reduce_.reducer->op != ReduceOp::sum || !reduce_.init.empty() || sources.size() != 1) return;
    Expr condition, value, otherwise;
    if (const auto* guarded_value = sources[0].as<IfThenElse>()) {
      condition = guarded_value->condition, value = guarded_value->on_true, otherwise = guarded_value->on_false;
    } else if (const auto* choice = sources[0].as<Select>()) {
      condition = choice->condition, value = choice->on_true, otherwise = choice->on_false;
    }
    if (!condition.defined() || !is_positive_zero(passes::simplify(otherwise))) return;
    const auto differs = [&](const LoopCopy& copy) { return uses_var(condition, copy.loop.var); };
    const bool in_lanes = std::any_of(loops_.order().begin(), loops_.order().end(), [&](const LoopCopy& copy) {
      return copy.loop.kind == ForKind::vectorized && differs(copy);
    });
    if (in_lanes || std::any_of(tile.begin(), tile.end(), differs)) return;
    conditions.push_back(condition);
    sources[0] = value;
  }

  // All lanes of an accumulator are initialised and are read regardless of the guards of single lanes: whole vectors
  // stay in registers.
  Stmt store_outputs(const Accumulators& acc, const std::vector<LoopCopy>& tile) const {
    std::vector<Expr> lanes, others, names;
    for (const Expr& guard : result_guards()) (is_lane_mask(guard, tile) ? lanes : others).push_back(guard);
    const std::vector<Expr> values = output_components(acc);
    if (lanes.empty()) return guarded(others, loops_.store_all(values));
    for (const Expr& value : values) names.push_back(Var::make("result", value.type()));
    Stmt body = guarded(lanes, loops_.store_all(names));
    for (std::size_t i = values.size(); i-- > 0;) body = LetStmt::make(names[i], values[i], std::move(body));
    return guarded(others, std::move(body));
  }

  // Returns the components that are outputs of the stage.
  std::vector<Expr> output_components(const Accumulators& acc) const {
    std::vector<Expr> values;
    for (const Expr& value : nest_.values) values.push_back(acc.load(value.as<Reduce>()->component));
    return values;
  }

  Stmt combine_lanes(const Accumulators& acc, const std::vector<LoopCopy>& lanes) const {
    const Accumulators total = make_accumulators(reduce_, {}, nest_.name() + "_total");
    std::vector<Expr> values;
    for (std::size_t i = 0; i < acc.buffers.size(); ++i) values.push_back(acc.load(i));
    return allocated(
        total, Block::make({store_each(total, initial_values()), wrap_in_loops(lanes, combine(reduce_, total, values)),
                            loops_.store_all(output_components(total))}));
  }

  const Nest& nest_;
  const Nests& nests_;
  const Reduce& reduce_;
  const std::vector<Loop>& around_;
  NestLoops& loops_;
};

}  // namespace

Stmt reduction_nest(const Nest& nest, const Nests& nests, const std::vector<Loop>& around, NestLoops& loops) {
  return ReductionNest(nest, nests, around, loops).build();
}

}  // namespace ferry::lower
