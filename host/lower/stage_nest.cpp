#include "host/lower/stage_nest.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/operators.h"
#include "crosscompile/ir/substitute.h"

#include <algorithm>

namespace ferry::lower {

using namespace ir;
using schedule::Loop;
using schedule::StageLoops;

namespace {

Stmt guarded(const std::vector<Expr>& guards, Stmt body) {
  if (guards.empty()) return body;
  Expr all = guards[0];
  for (std::size_t i = 1; i < guards.size(); ++i) all = all && guards[i];
  return If::make(all, std::move(body));
}

// Loops given outermost first, around the body.
Stmt wrap(const std::vector<Loop>& loops, Stmt body) {
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop)
    body = For::make(loop->var, Expr(0), loop->extent, loop->kind, std::move(body));
  return body;
}

class StageNest {
 public:
  StageNest(const StageParts& stage, const StageLoops& loops) : stage_(stage), guards_(loops.guards()) {
    for (std::size_t id : loops.order()) order_.push_back(loops.loop(id));
    for (const StageLoops::AxisValue& axis : loops.axis_values()) axis_values_[axis.axis.get()] = axis.value;
    for (const Axis& axis : stage.axes) point_.push_back(axis_values_.at(axis.var.get()));
  }

  Stmt build() {
    const auto* reduce = stage_.values[0].as<Reduce>();
    return reduce ? build_reduction(*reduce) : build_injective();
  }

 private:
  Expr at_point(const Expr& expr) const { return substitute(expr, axis_values_); }

  Stmt store_all(const std::vector<Expr>& values) const {
    std::vector<Stmt> stores;
    for (std::size_t i = 0; i < values.size(); ++i) stores.push_back(Store::make(stage_.outputs[i], point_, values[i]));
    return Block::make(std::move(stores));
  }

  Stmt build_injective() const {
    std::vector<Expr> values;
    for (const Expr& value : stage_.values) values.push_back(at_point(value));
    return wrap(order_, guarded(guards_, store_all(values)));
  }

  // Accumulators of one reduction: an array for each component of the tuple, indexed by the variables of `loops`.
  struct Accumulators {
    std::vector<BufferRef> buffers;
    std::vector<Expr> index;

    Expr load(std::size_t i) const { return Load::make(buffers[i], index); }
  };

  Accumulators make_accumulators(const Reduce& reduce, const std::vector<Loop>& loops,
                                 const std::string& suffix) const {
    Accumulators result;
    std::vector<Expr> shape;
    for (const Loop& loop : loops) {
      if (!as_int(loop.extent))
        throw CompileError(stage_.name + ": expected a constant extent for loop '" + loop.name +
                           "' inside a reduction, got a size known only at run time");
      shape.push_back(loop.extent);
      result.index.push_back(loop.var);
    }
    for (std::size_t i = 0; i < reduce.sources.size(); ++i) {
      Buffer buffer;
      buffer.name = stage_.name + suffix + (reduce.sources.size() > 1 ? std::to_string(i) : "");
      buffer.dtype = reduce.sources[i].type().code;
      buffer.shape = shape;
      buffer.scope = Scope::local;
      result.buffers.push_back(std::make_shared<Buffer>(std::move(buffer)));
    }
    return result;
  }

  // accumulators = combine(accumulators, values), all components at once.
  static Stmt combine(const Reduce& reduce, const Accumulators& into, const std::vector<Expr>& values) {
    Substitution operands;
    for (std::size_t i = 0; i < values.size(); ++i) {
      operands[reduce.reducer->left[i].get()] = into.load(i);
      operands[reduce.reducer->right[i].get()] = values[i];
    }
    if (values.size() == 1)
      return Store::make(into.buffers[0], into.index, substitute(reduce.reducer->combine[0], operands));
    // Every component reads the old tuple, so the new one is complete before any of it is stored.
    std::vector<Stmt> stores;
    std::vector<Expr> names;
    for (std::size_t i = 0; i < values.size(); ++i) {
      names.push_back(Var::make("combined" + std::to_string(i), values[i].type()));
      stores.push_back(Store::make(into.buffers[i], into.index, names[i]));
    }
    Stmt body = Block::make(std::move(stores));
    for (std::size_t i = values.size(); i-- > 0;)
      body = LetStmt::make(names[i], substitute(reduce.reducer->combine[i], operands), std::move(body));
    return body;
  }

  Stmt store_each(const Accumulators& into, const std::vector<Expr>& values) const {
    std::vector<Stmt> stores;
    for (std::size_t i = 0; i < values.size(); ++i)
      stores.push_back(Store::make(into.buffers[i], into.index, values[i]));
    return Block::make(std::move(stores));
  }

  std::vector<Expr> initial_values(const Reduce& reduce) const {
    std::vector<Expr> values;
    for (const Expr& init : reduce.init.empty() ? reduce.reducer->identity : reduce.init)
      values.push_back(at_point(init));
    return values;
  }

  // A guard that differs from lane to lane of the tile, and does not depend on where the reduction stands.
  bool only_picks_lanes(const Expr& guard, const std::vector<Loop>& tile) const {
    const bool differs = std::any_of(tile.begin(), tile.end(), [&](const Loop& loop) {
      return loop.kind == ForKind::vectorized && uses_var(guard, loop.var);
    });
    return differs && !uses_reduction(guard);
  }

  bool uses_reduction(const Expr& guard) const {
    return std::any_of(order_.begin(), order_.end(),
                       [&](const Loop& loop) { return loop.reduces && uses_var(guard, loop.var); });
  }

  // Values to start from may read what exists only at results; lanes beyond the last result, which take part in the
  // updates, start from the identity.
  Stmt initialise(const Reduce& reduce, const Accumulators& acc, const std::vector<Loop>& tile) const {
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

  // Guards that only use loops over results; a guard over a reduction's loop says nothing about which results exist.
  std::vector<Expr> result_guards() const {
    std::vector<Expr> result;
    for (const Expr& guard : guards_)
      if (!uses_reduction(guard)) result.push_back(guard);
    return result;
  }

  Stmt build_reduction(const Reduce& reduce) const {
    const auto first = std::find_if(order_.begin(), order_.end(), [](const Loop& loop) { return loop.reduces; });
    const std::vector<Loop> outside(order_.begin(), first);
    const std::vector<Loop> inside(first, order_.end());
    std::vector<Loop> tile, lanes;  // loops over results inside the reduction; loops over partial results
    for (const Loop& loop : inside) {
      if (!loop.reduces)
        tile.push_back(loop);
      else if (loop.kind == ForKind::vectorized)
        lanes.push_back(loop);
    }
    std::vector<Loop> partial = tile;
    partial.insert(partial.end(), lanes.begin(), lanes.end());

    const Accumulators acc = make_accumulators(reduce, partial, "_acc");
    const std::vector<Expr> result_guard = result_guards();
    // With partial results the initial value joins at the end, once.
    Stmt init = lanes.empty() ? initialise(reduce, acc, tile) : store_each(acc, reduce.reducer->identity);
    std::vector<Expr> sources;
    for (const Expr& source : reduce.sources) sources.push_back(at_point(source));
    std::vector<Expr> conditions;
    for (const Expr& guard : guards_) {
      if (!only_picks_lanes(guard, tile)) {
        conditions.push_back(guard);
        continue;
      }
      // Lanes beyond the last result are never stored: they may add up anything, as long as they read nothing. So only
      // the source is conditional, and the accumulators stay whole vectors.
      for (Expr& source : sources) source = if_then_else(guard, source, constant(source.type(), std::int64_t{0}));
    }
    if (reduce.condition) conditions.push_back(at_point(reduce.condition));
    Stmt update = guarded(conditions, combine(reduce, acc, sources));

    std::vector<Stmt> steps = {wrap(partial, init), wrap(inside, update)};
    if (lanes.empty()) {
      steps.push_back(wrap(tile, guarded(result_guard, store_all(picked(acc)))));
    } else {
      steps.push_back(wrap(tile, guarded(result_guard, combine_lanes(reduce, acc, lanes))));
    }
    Stmt body = Block::make(std::move(steps));
    for (const BufferRef& buffer : acc.buffers) body = Allocate::make(buffer, std::move(body));
    return wrap(outside, std::move(body));
  }

  // The components that the stage's outputs ask for.
  std::vector<Expr> picked(const Accumulators& acc) const {
    std::vector<Expr> values;
    for (const Expr& value : stage_.values) values.push_back(acc.load(value.as<Reduce>()->component));
    return values;
  }

  Stmt combine_lanes(const Reduce& reduce, const Accumulators& acc, const std::vector<Loop>& lanes) const {
    const Accumulators total = make_accumulators(reduce, {}, "_total");
    std::vector<Expr> values;
    for (std::size_t i = 0; i < acc.buffers.size(); ++i) values.push_back(acc.load(i));
    Stmt body = Block::make({store_each(total, initial_values(reduce)), wrap(lanes, combine(reduce, total, values)),
                             store_all(picked(total))});
    for (const BufferRef& buffer : total.buffers) body = Allocate::make(buffer, std::move(body));
    return body;
  }

  const StageParts& stage_;
  std::vector<Expr> guards_;
  std::vector<Loop> order_;
  Substitution axis_values_;
  std::vector<Expr> point_;
};

}  // namespace

Stmt stage_nest(const StageParts& stage, const StageLoops& loops) { return StageNest(stage, loops).build(); }

}  // namespace ferry::lower
