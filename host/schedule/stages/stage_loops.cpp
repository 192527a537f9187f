#include "host/schedule/stages/stage_loops.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>

namespace ferry::schedule {

namespace {

// The number of iterations of two nested loops. A negative extent means none, so the product of two of them must not
// become positive.
Expr iterations(const Expr& outer, const Expr& inner, const std::vector<Expr>& facts) {
  const auto is_count = [&](const Expr& extent) {
    const std::int64_t* known = ir::as_int(extent);
    return known != nullptr ? *known >= 0 : passes::can_prove(extent >= Expr(0), facts);
  };
  return passes::simplify(outer * (is_count(inner) || is_count(outer) ? inner : ir::max(inner, Expr(0))));
}

}  // namespace

StageLoops::StageLoops(const std::vector<ir::Axis>& axes, const std::vector<ir::Axis>& reduction)
    : spatial_axes_(axes.size()) {
  auto add_axis = [&](const ir::Axis& axis, bool reduces) {
    // Two axes may have the same name in the definition, but loop names are unique.
    const std::string& given = axis.var.as<ir::Var>()->name;
    std::string name = given;
    for (std::size_t number = 2; find(name); ++number) name = given + "." + std::to_string(number);
    axes_.push_back(axis.var);
    mins_.push_back(axis.min);
    order_.push_back(add({name, ir::Var::make(name), axis.extent, reduces}));
  };
  for (const ir::Axis& axis : axes) add_axis(axis, false);
  for (const ir::Axis& axis : reduction) add_axis(axis, true);
}

std::size_t StageLoops::add(Loop loop) {
  loops_.push_back(std::move(loop));
  return loops_.size() - 1;
}

bool StageLoops::is_in_order(std::size_t id) const {
  return std::find(order_.begin(), order_.end(), id) != order_.end();
}

std::optional<std::size_t> StageLoops::find(const std::string& name) const {
  std::optional<std::size_t> gone;
  for (std::size_t id = 0; id < loops_.size(); ++id) {
    if (loops_[id].name != name) continue;
    if (is_in_order(id)) return id;
    gone = id;
  }
  return gone;
}

std::vector<std::size_t> StageLoops::replacements(std::size_t id) const {
  for (const Relation& relation : relations_) {
    if (relation.kind != Kind::fuse && relation.parent == id) return {relation.outer, relation.inner};
    if (relation.kind == Kind::fuse && (relation.outer == id || relation.inner == id)) return {relation.parent};
  }
  return {};
}

void StageLoops::set_extents(const Relation& relation, const std::vector<Expr>& facts) {
  const Expr& parent = loops_[relation.parent].extent;
  switch (relation.kind) {
    case Kind::split:
      loops_[relation.outer].extent = passes::simplify(ir::ceil_div(parent, Expr(relation.factor)));
      loops_[relation.inner].extent = Expr(relation.factor);
      return;
    case Kind::split_parts:
      loops_[relation.outer].extent = Expr(relation.factor);
      loops_[relation.inner].extent = passes::simplify(ir::ceil_div(parent, Expr(relation.factor)));
      return;
    case Kind::fuse:
      loops_[relation.parent].extent = iterations(loops_[relation.outer].extent, loops_[relation.inner].extent, facts);
      return;
  }
}

std::pair<std::size_t, std::size_t> StageLoops::split(Kind kind, std::size_t id, std::int64_t factor,
                                                      std::string outer_name, std::string inner_name) {
  if (factor < 1) throw InternalError("split of " + loops_[id].name + " by " + std::to_string(factor));
  if (outer_name.empty()) outer_name = loops_[id].name + ".outer";
  if (inner_name.empty()) inner_name = loops_[id].name + ".inner";
  const bool reduces = loops_[id].reduces;
  const Dependence dependence = loops_[id].dependence;
  const std::size_t outer = add({outer_name, ir::Var::make(outer_name), {}, reduces, ir::ForKind::serial, dependence});
  const std::size_t inner = add({inner_name, ir::Var::make(inner_name), {}, reduces, ir::ForKind::serial, dependence});
  relations_.push_back({kind, id, outer, inner, factor});
  set_extents(relations_.back());
  const auto at = std::find(order_.begin(), order_.end(), id);
  *at = outer;
  order_.insert(at + 1, inner);
  return {outer, inner};
}

std::pair<std::size_t, std::size_t> StageLoops::split(std::size_t loop, std::int64_t factor, std::string outer_name,
                                                      std::string inner_name) {
  return split(Kind::split, loop, factor, std::move(outer_name), std::move(inner_name));
}

std::pair<std::size_t, std::size_t> StageLoops::split_parts(std::size_t loop, std::int64_t parts,
                                                            std::string outer_name, std::string inner_name) {
  return split(Kind::split_parts, loop, parts, std::move(outer_name), std::move(inner_name));
}

std::size_t StageLoops::fuse(std::size_t outer, std::size_t inner, std::string name, const std::vector<Expr>& facts) {
  const auto at = std::find(order_.begin(), order_.end(), outer);
  if (at == order_.end() || at + 1 == order_.end() || *(at + 1) != inner)
    throw InternalError("fuse of loops that are not neighbours");
  if (name.empty()) name = loops_[outer].name + "." + loops_[inner].name + ".fused";
  const std::size_t fused = add({name,
                                 ir::Var::make(name),
                                 {},
                                 loops_[outer].reduces && loops_[inner].reduces,
                                 ir::ForKind::serial,
                                 loops_[outer].dependence});
  relations_.push_back({Kind::fuse, fused, outer, inner});
  set_extents(relations_.back(), facts);
  *at = fused;
  order_.erase(at + 1);
  return fused;
}

void StageLoops::reorder(std::vector<std::size_t> order) {
  if (!std::is_permutation(order.begin(), order.end(), order_.begin(), order_.end()))
    throw InternalError("reorder must name every loop once");
  order_ = std::move(order);
}

void StageLoops::set_sequence(std::size_t axis, const std::vector<bool>& crossed) {
  sequence_ = axis;
  for (std::size_t id = 0; id < loops_.size(); ++id)
    loops_[id].dependence = id == axis                             ? Dependence::sequence
                            : loops_[id].reduces || crossed.at(id) ? Dependence::step
                                                                   : Dependence::none;
  const auto at = std::find(order_.begin(), order_.end(), axis);
  std::stable_partition(order_.begin(), at + 1,
                        [&](std::size_t id) { return loops_[id].dependence != Dependence::step; });
}

void StageLoops::append_parts(std::size_t loop, std::vector<std::size_t>& parts) const {
  const std::vector<std::size_t> replaced = replacements(loop);
  for (const std::size_t id : replaced) append_parts(id, parts);
  // Two loops that were fused have become the same one.
  if (replaced.empty() && (parts.empty() || parts.back() != loop)) parts.push_back(loop);
}

std::string StageLoops::why_out_of_sequence() const {
  if (!sequence_) return "";
  std::vector<std::size_t> wanted;
  append_parts(*sequence_, wanted);
  std::size_t next = 0;
  std::string step;
  for (const std::size_t id : order_) {
    const Loop& loop = loops_[id];
    if (loop.dependence == Dependence::step) step = loop.name;
    if (loop.dependence != Dependence::sequence) continue;
    if (!step.empty()) return "'" + step + "' outside of '" + loop.name + "'";
    if (id != wanted[next]) return "'" + loop.name + "' outside of '" + loops_[wanted[next]].name + "'";
    ++next;
  }
  return "";
}

StageLoops StageLoops::over(const std::vector<AxisRange>& ranges, const std::vector<Expr>& facts) const {
  StageLoops result = *this;
  for (std::size_t i = 0; i < spatial_axes_; ++i) {
    result.mins_[i] = ranges.at(i).min;
    result.loops_[i].extent = ranges.at(i).extent;
  }
  // Relations are in order of creation, so every extent is known before it is used.
  for (const Relation& relation : relations_) result.set_extents(relation, facts);
  return result;
}

std::vector<Expr> StageLoops::values() const {
  std::vector<Expr> value(loops_.size());
  for (std::size_t id : order_) value[id] = loops_[id].var;
  // A loop is made by one relation and consumed by a later one, so in reverse order every source is known before it is
  // used.
  for (auto relation = relations_.rbegin(); relation != relations_.rend(); ++relation) {
    const Expr& inner_extent = loops_[relation->inner].extent;
    if (relation->kind != Kind::fuse) {
      value[relation->parent] = value[relation->outer] * inner_extent + value[relation->inner];
    } else {
      value[relation->outer] = value[relation->parent] / inner_extent;
      value[relation->inner] = value[relation->parent] % inner_extent;
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
    if (relation.kind == Kind::fuse) continue;
    const Expr& extent = loops_[relation.parent].extent;
    if (passes::can_prove(extent % Expr(relation.factor) == Expr(0))) continue;
    result.push_back(value[relation.parent] < extent);
  }
  return result;
}

}  // namespace ferry::schedule
