// The loops of one stage: which there are, in which order, how each runs, and how the stage's own axes are computed
// from them. Directives rewrite this; lowering reads it.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "host/lang/tensor.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferry::schedule {

using ir::Expr;

struct Loop {
  std::string name;
  Expr var;  // runs over [0, extent)
  Expr extent;
  bool reduces = false;  // over a reduction's axis
  ir::ForKind kind = ir::ForKind::serial;
};

// The values [min, min + extent) of an axis that are computed.
struct AxisRange {
  Expr min, extent;
};

class StageLoops {
 public:
  StageLoops() = default;
  // One serial loop an axis: the stage's axes in order, then those of its reduction.
  StageLoops(const std::vector<ir::Axis>& axes, const std::vector<ir::Axis>& reduction);

  // Outermost first; ids stay valid until the loop is split or fused.
  const std::vector<std::size_t>& order() const { return order_; }
  const Loop& loop(std::size_t id) const { return loops_[id]; }
  bool is_in_order(std::size_t id) const;
  // The loop of that name: in the order, or else one that was split or fused.
  std::optional<std::size_t> find(const std::string& name) const;
  // The loops that took a split or fused loop's place.
  std::vector<std::size_t> replacements(std::size_t id) const;
  // The loop that runs over the stage's axis, or over the reduction's: only while it is neither split nor fused.
  std::size_t spatial(std::size_t axis) const { return axis; }
  std::size_t reduction(std::size_t axis) const { return spatial_axes_ + axis; }
  std::size_t spatial_axes() const { return spatial_axes_; }

  // An outer loop (extent / factor, rounded up) around an inner one (factor). Names left empty are NAME.outer and
  // NAME.inner. Returns {outer, inner}.
  std::pair<std::size_t, std::size_t> split(std::size_t loop, std::int64_t factor, std::string outer_name = {},
                                            std::string inner_name = {});
  // The same for a number of outer iterations.
  std::pair<std::size_t, std::size_t> split_parts(std::size_t loop, std::int64_t parts, std::string outer_name = {},
                                                  std::string inner_name = {});
  // The two must be neighbours, outer directly around inner. The fused loop takes their place.
  std::size_t fuse(std::size_t outer, std::size_t inner, std::string name = {});
  // All loops, outermost first.
  void reorder(std::vector<std::size_t> order);
  void set_kind(std::size_t loop, ir::ForKind kind) { loops_[loop].kind = kind; }

  // The same loops over other ranges of the stage's axes: `ranges` has one for each, reductions stay whole.
  StageLoops over(const std::vector<AxisRange>& ranges) const;

  struct AxisValue {
    Expr axis;   // the stage's variable
    Expr value;  // in terms of the loops' variables
  };
  std::vector<AxisValue> axis_values() const;
  // What must hold for an iteration to be a point of the stage: one condition a split that does not divide evenly.
  std::vector<Expr> guards() const;

 private:
  enum class Kind : std::uint8_t { split, split_parts, fuse };
  struct Relation {
    Kind kind;
    std::size_t parent, outer, inner;
    std::int64_t factor = 0;  // of a split: the inner extent, or the outer one
  };
  std::size_t add(Loop loop);
  std::pair<std::size_t, std::size_t> split(Kind kind, std::size_t loop, std::int64_t factor, std::string outer_name,
                                            std::string inner_name);
  void set_extents(const Relation& relation);
  std::vector<Expr> values() const;  // of every loop ever made

  std::vector<Loop> loops_;
  std::vector<Expr> axes_, mins_;
  std::vector<std::size_t> order_;
  std::vector<Relation> relations_;
  std::size_t spatial_axes_ = 0;
};

}  // namespace ferry::schedule
