#include "host/lower/nest_loops.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

namespace ferry::lower {

using namespace ir;
using schedule::StageLoops;

Stmt wrap_in_loops(const std::vector<LoopCopy>& loops, Stmt body) {
  for (auto copy = loops.rbegin(); copy != loops.rend(); ++copy)
    body = For::make(copy->loop.var, Expr(0), copy->loop.extent, copy->loop.kind, std::move(body));
  return body;
}

NestLoops::NestLoops(const Nest& nest, const LoopBody& loop_body) : nest_(nest), loop_body_(loop_body) {
  const StageLoops& loops = nest.loops;
  for (std::size_t id : loops.order()) order_.push_back({loops.loop(id), id});
  check_extents();
  apply_unroll_pragmas();
  for (const StageLoops::AxisValue& axis : nest.axis_values) axis_values_[axis.axis.get()] = axis.value;
  guards_ = loops.guards();
  for (const Expr& condition : nest.conditions()) guards_.push_back(at_point(condition));
  std::vector<Expr> point;
  if (nest.place.empty())
    for (const Axis& axis : nest.stage->axes) point.push_back(axis_values_.at(axis.var.get()));
  for (const Expr& index : nest.place) point.push_back(at_point(index));
  for (const Storage& storage : nest.storage) points_.push_back(storage.indices(point));
}

void NestLoops::check_extents() const {
  for (const LoopCopy& copy : order_) {
    const bool vectorized = copy.loop.kind == ForKind::vectorized;
    if ((!vectorized && copy.loop.kind != ForKind::unrolled) || as_int(copy.loop.extent) != nullptr) continue;
    throw CompileError("'" + nest_.name() + "': expected a constant extent for the " +
                       (vectorized ? "vectorized" : "unrolled") + " axis '" + copy.loop.name +
                       "', got one that is known only at run time; split it and take the inner axis");
  }
}

// Unrolls loops as `pragma auto_unroll_max_step` asks.
void NestLoops::apply_unroll_pragmas() {
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

Stmt NestLoops::wrap_with_attached_stages(const std::vector<LoopCopy>& loops, Stmt body) const {
  for (auto copy = loops.rbegin(); copy != loops.rend(); ++copy) {
    const auto found = is_real_iteration_.find(copy->id);
    const Expr is_real_iteration = found == is_real_iteration_.end() ? Expr() : found->second;
    body = loop_body_(copy->id, std::move(body), is_real_iteration);
    body = For::make(copy->loop.var, Expr(0), copy->loop.extent, copy->loop.kind, std::move(body));
  }
  return body;
}

Expr NestLoops::at_point(const Expr& expr) const { return substitute(expr, axis_values_); }

Stmt NestLoops::store_all(const std::vector<Expr>& values) const {
  std::vector<Stmt> stores;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const BufferRef& into = nest_.storage[i].buffer;
    stores.push_back(Store::make(into, points_[i], cast(into->dtype, values[i])));
  }
  return Block::make(std::move(stores));
}

void NestLoops::run_at_least_once(std::vector<LoopCopy>& outside) {
  Expr is_real_iteration;
  for (LoopCopy& copy : outside) {
    if (copy.loop.reduces && !passes::can_prove(copy.loop.extent >= Expr(1))) {
      guards_.push_back(copy.loop.var < copy.loop.extent);
      is_real_iteration = is_real_iteration.defined() ? is_real_iteration && guards_.back() : guards_.back();
      copy.loop.extent = max(copy.loop.extent, Expr(1));
    }
    if (is_real_iteration.defined()) is_real_iteration_[copy.id] = is_real_iteration;
  }
  for (auto copy = order_.begin() + std::ssize(outside); is_real_iteration.defined() && copy != order_.end(); ++copy)
    is_real_iteration_[copy->id] = is_real_iteration;
}

}  // namespace ferry::lower
