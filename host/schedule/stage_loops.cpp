#include "host/schedule/stage_loops.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/passes/simplify.h"

#include <algorithm>

namespace ferry::schedule {

StageLoops::StageLoops(const lang::Stage& stage) : spatial_axes_(stage.axes.size()) {
  auto add_axis = [&](const ir::Axis& axis, bool reduces) {
    const std::string& name = axis.var.as<ir::Var>()->name;
    axes_.push_back(axis.var);
    mins_.push_back(axis.min);
    order_.push_back(add({name, ir::Var::make(name), axis.extent, reduces}));
  };
  for (const ir::Axis& axis : stage.axes) add_axis(axis, false);
  if (const auto* reduce = stage.values.at(0).as<ir::Reduce>())
    for (const ir::Axis& axis : reduce->axes) add_axis(axis, true);
}

std::size_t StageLoops::add(Loop loop) {
  loops_.push_back(std::move(loop));
  return loops_.size() - 1;
}

std::pair<std::size_t, std::size_t> StageLoops::split(std::size_t id, std::int64_t factor) {
  if (factor < 1) throw InternalError("split of " + loops_[id].name + " by " + std::to_string(factor));
  const Loop parent = loops_[id];
  const std::string outer_name = parent.name + ".outer", inner_name = parent.name + ".inner";
  const std::size_t outer = add({outer_name, ir::Var::make(outer_name),
                                 passes::simplify(ir::ceil_div(parent.extent, Expr(factor))), parent.reduces});
  const std::size_t inner = add({inner_name, ir::Var::make(inner_name), Expr(factor), parent.reduces});
  relations_.push_back({id, outer, inner, factor});
  auto at = std::find(order_.begin(), order_.end(), id);
  *at = outer;
  order_.insert(at + 1, inner);
  return {outer, inner};
}

std::size_t StageLoops::fuse(std::size_t outer, std::size_t inner) {
  auto at = std::find(order_.begin(), order_.end(), outer);
  if (at == order_.end() || at + 1 == order_.end() || *(at + 1) != inner)
    throw InternalError("fuse of loops that are not neighbours");
  const std::string name = loops_[outer].name + "." + loops_[inner].name + ".fused";
  const std::size_t fused =
      add({name, ir::Var::make(name), passes::simplify(loops_[outer].extent * loops_[inner].extent),
           loops_[outer].reduces && loops_[inner].reduces});
  relations_.push_back({fused, outer, inner, 0});
  *at = fused;
  order_.erase(at + 1);
  return fused;
}

void StageLoops::reorder(std::vector<std::size_t> order) {
  if (!std::is_permutation(order.begin(), order.end(), order_.begin(), order_.end()))
    throw InternalError("reorder must name every loop once");
  order_ = std::move(order);
}

std::vector<Expr> StageLoops::values() const {
  std::vector<Expr> value(loops_.size());
  for (std::size_t id : order_) value[id] = loops_[id].var;
  // A loop is made by one relation and consumed by a later one, so going backwards every source is known before it is
  // used.
  for (auto relation = relations_.rbegin(); relation != relations_.rend(); ++relation) {
    if (relation->factor != 0) {
      value[relation->parent] = value[relation->outer] * Expr(relation->factor) + value[relation->inner];
    } else {
      value[relation->outer] = value[relation->parent] / loops_[relation->inner].extent;
      value[relation->inner] = value[relation->parent] % loops_[relation->inner].extent;
    }
  }
  return value;
}

std::vector<StageLoops::AxisValue> StageLoops::axis_values() const {
  const std::vector<Expr> value = values();
  std::vector<AxisValue> result;
  for (std::size_t i = 0; i < axes_.size(); ++i) result.push_back({axes_[i], passes::simplify(mins_[i] + value[i])});
  return result;
}

std::vector<Expr> StageLoops::guards() const {
  const std::vector<Expr> value = values();
  std::vector<Expr> result;
  for (const Relation& relation : relations_) {
    if (relation.factor == 0) continue;
    const Expr& extent = loops_[relation.parent].extent;
    if (passes::can_prove(extent % Expr(relation.factor) == Expr(0))) continue;
    result.push_back(value[relation.parent] < extent);
  }
  return result;
}

}  // namespace ferry::schedule
