#include "host/lower/bounds.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/analysis/loads.h"
#include "crosscompile/analysis/wrapping.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/assumptions.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace ferry::lower {

using namespace ir;
using analysis::Range;
using schedule::Attachment;
using schedule::Loop;

namespace {

struct Bounds {
  Expr lo, hi;
};

bool uses_any(const Expr& expr, const std::vector<Loop>& loops) {
  return std::any_of(loops.begin(), loops.end(), [&](const Loop& loop) { return uses_var(expr, loop.var); });
}

std::vector<Range> ranges_of(const std::vector<Loop>& loops) {
  std::vector<Range> ranges;
  for (const Loop& loop : loops) ranges.push_back({loop.var, Expr(0), loop.extent});
  return ranges;
}

// Whether all iterations of the loop, the threads of a block, share one copy of memory in that scope.
bool shares(Scope scope, const Loop& loop) {
  return scope == Scope::shared && (ir::is_thread(loop.kind) || loop.kind == ForKind::vthread);
}

std::optional<Bounds> bounds_over(const Bounds& of, const std::vector<Range>& ranges) {
  const auto lo = analysis::lower_bound(of.lo, ranges);
  const auto hi = analysis::upper_bound(of.hi, ranges);
  if (!lo || !hi) return std::nullopt;
  return Bounds{passes::simplify(*lo), passes::simplify(*hi)};
}

// Loops, vectors and storage of a schedule rely on a constant extent, and its stage may be smaller than the tiles that
// are computed of it. A region of more points is worth being cut to the stage.
constexpr std::int64_t kMaxOvershoot = std::int64_t{1} << 16;

class Inference {
 public:
  Inference(const Nests& nests, const schedule::ScheduledStage& stage, const Attachment& place, Scope scope,
            std::span<const Expr> size_conditions)
      : nests_(nests), stage_(stage), place_(place) {
    for (Loop& loop : loops_around(nests, place)) (shares(scope, loop) ? sharing_ : around_).push_back(std::move(loop));
    // The conditions on sizes come before those of the loops, whose extents say more once sizes are non-negative.
    std::vector<Expr> facts;
    if (!around_.empty()) facts.assign(size_conditions.begin(), size_conditions.end());
    for (Expr& fact : facts_of(around_)) facts.push_back(std::move(fact));
    known_.emplace(facts);
    boxes_.resize(stage.axes.size());
    for (const Expr& condition : size_conditions) add_sizes(condition);
    for (const Axis& axis : stage.axes) add_sizes(axis.extent);
    for (const Nest& nest : nests) {
      for (const Axis& axis : nest.all_axes()) {
        add_sizes(axis.min);
        add_sizes(axis.extent);
      }
    }
  }

  // A reader's loops may overshoot what is required of it (tails of splits). Both are carried along: the stage must
  // compute enough for the loops that run, but only the required part needs to be valid.
  void add_reader(const Nest& reader) {
    std::vector<Loop> inside = loops_inside(nests_, reader, place_);
    inside.insert(inside.begin(), sharing_.begin(), sharing_.end());
    const std::vector<Range> ranges = ranges_of(inside);
    std::vector<Range> computed, required;
    bool computes_more_than_required = false;
    const std::vector<Axis> axes = reader.all_axes();
    const auto& values = reader.axis_values;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const bool spatial = i < reader.required.size();
      // The range of the reader's loops, and the part of it that is required.
      const Bounds computed_axis =
          spatial ? Bounds{reader.required[i].min, reader.required[i].min + reader.required[i].extent - 1}
                  : Bounds{axes[i].min, axes[i].min + axes[i].extent - 1};
      const Bounds required_axis =
          spatial ? Bounds{reader.required[i].lowest(), reader.required[i].highest()} : computed_axis;
      const Bounds computed_over_inner = over_inner_loops(computed_axis, ranges, axes[i]);
      const Bounds required_over_inner = over_inner_loops(required_axis, ranges, axes[i]);
      std::optional<Bounds> at_place;
      const bool reads_all = spatial && has_lanes_of_instruction(reader, values[i].value);
      if (reads_all || uses_any(values[i].value, around_))
        at_place = bounds_over({values[i].value, values[i].value}, ranges);
      if (!at_place) at_place = computed_over_inner;
      computed.push_back({axes[i].var, at_place->lo, passes::simplify(at_place->hi - at_place->lo + 1)});
      const Expr lo = reads_all ? at_place->lo : known_->simplify(max(at_place->lo, required_over_inner.lo));
      const Expr hi = reads_all ? at_place->hi : known_->simplify(min(at_place->hi, required_over_inner.hi));
      computes_more_than_required |= !equal(lo, at_place->lo) || !equal(hi, at_place->hi);
      required.push_back({axes[i].var, lo, passes::simplify(hi - lo + 1)});
    }
    std::vector<std::vector<Expr>> added(boxes_.size());
    for (const Expr& value : reader.expressions())
      for (const Load* load : analysis::loads_of(value))
        if (std::find(stage_.outputs.begin(), stage_.outputs.end(), load->buffer) != stage_.outputs.end())
          add_load(*load, computed, computes_more_than_required ? &required : nullptr, added);
  }

  std::vector<RequiredRange> finish() {
    std::vector<RequiredRange> required;
    for (std::size_t i = 0; i < boxes_.size(); ++i) required.push_back(finish(boxes_[i], stage_.axes[i].extent));
    return required;
  }

 private:
  struct Box {
    std::optional<Bounds> computed, required;
  };

  // Whether the axis is one along which an instruction has lanes. It computes those beyond the last result too, where
  // what it reads is padded (reduction_nest.cpp).
  static bool has_lanes_of_instruction(const Nest& reader, const Expr& value) {
    return reader.stage->tensorized && std::ranges::any_of(reader.loops.order(), [&](std::size_t id) {
             const Loop& loop = reader.loops.loop(id);
             return loop.kind == ForKind::vectorized && uses_var(value, loop.var);
           });
  }

  // Returns the interval with every loop inside `place` replaced by its bounds, or the whole axis if it has none.
  static Bounds over_inner_loops(const Bounds& of, const std::vector<Range>& ranges, const Axis& axis) {
    const auto bounds = bounds_over(of, ranges);
    return bounds ? *bounds : Bounds{axis.min, axis.min + axis.extent - 1};
  }

  void add_sizes(const Expr& extent) {
    for (const Expr& size : free_vars(extent)) sizes_.insert(size.get());
  }

  // Whether the index has bounds over the ranges that are those of its 64-bit value, and give storage a size that a
  // call can compute: not over loops and data together.
  bool has_bounds(const Expr& index, const std::vector<Range>& ranges) const {
    if (!analysis::is_arithmetic(index)) return false;
    const auto is_range = [&](const Expr& var) {
      return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) { return range.var.same_as(var); });
    };
    const auto is_data = [&](const Expr& var) {
      return !sizes_.contains(var.get()) && !is_range(var) &&
             std::none_of(around_.begin(), around_.end(), [&](const Loop& loop) { return loop.var.same_as(var); });
    };
    const std::vector<Expr> vars = free_vars(index);
    if (std::none_of(vars.begin(), vars.end(), is_data)) return !analysis::wraps_inside(index);
    return std::none_of(vars.begin(), vars.end(), is_range) && !analysis::may_wrap(index, is_data);
  }

  // `required`: null where it is the same as `computed`. `added`: the indices of the reader's loads before, by axis:
  // the loads of an unrolled window share most of theirs.
  void add_load(const Load& load, const std::vector<Range>& computed, const std::vector<Range>* required,
                std::vector<std::vector<Expr>>& added) {
    for (std::size_t d = 0; d < load.indices.size(); ++d) {
      const auto is_same = [&](const Expr& other) { return equal(other, load.indices[d]); };
      if (std::ranges::any_of(added[d], is_same)) continue;
      added[d].push_back(load.indices[d]);
      const Bounds whole_axis = {Expr(0), stage_.axes[d].extent - 1};
      const Bounds index = {load.indices[d], load.indices[d]};
      // An index that is loaded from memory, or wraps, may have any value.
      auto computed_index = has_bounds(index.lo, computed) ? bounds_over(index, computed) : std::nullopt;
      auto required_index = computed_index && required ? bounds_over(index, *required) : computed_index;
      if (!computed_index) computed_index = required_index = whole_axis;
      if (!required_index) required_index = computed_index;
      const bool are_same = is_same_box(boxes_[d]) && same(*computed_index, *required_index);
      unite(boxes_[d].computed, *computed_index);
      if (are_same)
        boxes_[d].required = boxes_[d].computed;
      else
        unite(boxes_[d].required, *required_index);
    }
  }

  static bool same(const Bounds& a, const Bounds& b) { return a.lo.same_as(b.lo) && a.hi.same_as(b.hi); }
  static bool is_same_box(const Box& box) { return !box.computed || same(*box.computed, *box.required); }

  void unite(std::optional<Bounds>& with, const Bounds& other) {
    if (!with) {
      with = other;
      return;
    }
    if (equal(with->lo, other.lo) && equal(with->hi, other.hi)) return;
    with->lo = known_->simplify(min(with->lo, other.lo));
    with->hi = known_->simplify(max(with->hi, other.hi));
  }

  // Whether a region may have many more points than its stage, none of which is required: conditions around the reads
  // exclude them, but their number may not even be countable.
  bool may_exceed(const Bounds& region, const Expr& size) {
    if (!uses_any(region.lo, around_) && !uses_any(region.hi, around_)) return false;
    const Expr extent = known_->simplify(region.hi - region.lo + 1);
    if (known_->proves(extent <= size)) return false;
    const std::vector<Range> ranges = ranges_of(around_);
    const auto most = analysis::upper_bound(extent, ranges);
    if (!most) return true;
    const Expr simplified = passes::simplify(*most);
    const std::int64_t* number = as_int(simplified);
    return number == nullptr || *number > kMaxOvershoot;
  }

  RequiredRange finish(const Box& box, const Expr& size) {
    if (!box.computed) return {Expr(0), Expr(0), {}, {}};  // no reader
    Bounds computed = *box.computed;
    RequiredRange required;
    if (!uses_any(computed.lo, around_)) computed.lo = known_->simplify(max(box.required->lo, Expr(0)));
    if (!uses_any(computed.hi, around_)) computed.hi = known_->simplify(min(box.required->hi, size - 1));
    if (may_exceed(computed, size)) {
      computed.lo = known_->simplify(max(computed.lo, Expr(0)));
      computed.hi = known_->simplify(min(computed.hi, size - 1));
    }
    required.min = computed.lo;
    required.extent = known_->simplify(computed.hi - computed.lo + 1);
    const Expr first = known_->simplify(max(box.required->lo, Expr(0)));
    const Expr last = known_->simplify(min(box.required->hi, size - 1));
    if (!known_->proves(first <= computed.lo)) required.first = first;
    if (!known_->proves(last >= computed.hi)) required.last = last;
    return required;
  }

  const Nests& nests_;
  const schedule::ScheduledStage& stage_;
  const Attachment& place_;
  std::vector<Loop> around_;
  std::unordered_set<const ExprNode*> sizes_;
  std::vector<Loop> sharing_;                 // also around `place`, but all their iterations share what is computed
  std::optional<passes::Assumptions> known_;  // about the loops around and the sizes
  std::vector<Box> boxes_;
};

Expr with_next(const Expr& expr, const Expr& var, std::int64_t step) {
  return passes::simplify(substitute(expr, {{var.get(), var + Expr(step)}}));
}

// Returns how much a bound grows from one iteration to the next, or nothing when that is not a constant.
std::optional<std::int64_t> growth(const Expr& bound, const Expr& var) {
  const Expr difference = passes::simplify(with_next(bound, var, 1) - bound);
  const std::int64_t* constant = as_int(difference);
  return constant == nullptr ? std::nullopt : std::optional(*constant);
}

// Widens a bound of one iteration to a bound for all of them; returns false when there is none.
bool over_all_iterations(Expr& bound, const Loop& loop,
                         std::optional<Expr> (*widest)(const Expr&, std::span<const Range>)) {
  if (!bound.defined() || !uses_var(bound, loop.var)) return true;
  const Range range{loop.var, Expr(0), loop.extent};
  const auto result = widest(bound, std::span(&range, 1));
  if (!result || uses_var(*result, loop.var)) return false;
  bound = passes::simplify(*result);
  return true;
}

}  // namespace

std::vector<RequiredRange> required_at(const Nests& nests, const schedule::ScheduledStage& stage,
                                       const std::vector<const Nest*>& readers, const Attachment& place, Scope scope,
                                       std::span<const Expr> size_conditions) {
  Inference inference(nests, stage, place, scope, size_conditions);
  for (const Nest* reader : readers) inference.add_reader(*reader);
  return inference.finish();
}

Sliding slide(std::vector<RequiredRange> required, const Loop& loop) {
  Sliding sliding{std::move(required)};
  if (loop.kind != ForKind::serial) return sliding;
  for (std::size_t i = 0; i < sliding.required.size(); ++i) {
    const RequiredRange& axis = sliding.required[i];
    if (!uses_var(axis.min, loop.var) && !uses_var(axis.extent, loop.var)) continue;
    if (sliding.axis >= 0) return {std::move(sliding.required)};  // two axes move: the new points are not a box
    sliding.axis = static_cast<int>(i);
  }
  if (sliding.axis < 0) return sliding;
  const RequiredRange& axis = sliding.required[static_cast<std::size_t>(sliding.axis)];
  const std::int64_t* window = as_int(axis.extent);
  const auto step = growth(axis.min, loop.var);
  if (window == nullptr || !step || *step < 1 || *step >= *window) return {std::move(sliding.required)};
  // A later iteration may need what this one does not, and will not compute it again, so bounds must cover all
  // iterations.
  std::vector<RequiredRange> wide = sliding.required;
  for (RequiredRange& other : wide) {
    const bool is_known = over_all_iterations(other.first, loop, analysis::lower_bound) &&
                          over_all_iterations(other.last, loop, analysis::upper_bound);
    if (!is_known) return {std::move(sliding.required)};
  }
  sliding.window = *window;
  const Expr is_first = loop.var == Expr(0);
  RequiredRange& moving = wide[static_cast<std::size_t>(sliding.axis)];
  moving.min = select(is_first, axis.min, axis.min + Expr(*window - *step));
  moving.extent = select(is_first, Expr(*window), Expr(*step));
  sliding.required = std::move(wide);
  return sliding;
}

}  // namespace ferry::lower
