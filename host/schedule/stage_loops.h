// The loops of one stage: which there are, in which order, how each runs, and how the stage's own axes are computed
// from them. Directives rewrite this; lowering reads it.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "host/lang/tensor.h"

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

class StageLoops {
 public:
  // One serial loop an axis: the stage's axes in order, then those of its reduction.
  explicit StageLoops(const lang::Stage& stage);

  // Outermost first; ids stay valid until the loop is split or fused.
  const std::vector<std::size_t>& order() const { return order_; }
  const Loop& loop(std::size_t id) const { return loops_[id]; }
  // The loop that runs over the stage's axis, or over the reduction's: only while it is neither split nor fused.
  std::size_t spatial(std::size_t axis) const { return axis; }
  std::size_t reduction(std::size_t axis) const { return spatial_axes_ + axis; }

  // name -> name.outer (extent / factor, rounded up) around name.inner (factor). Returns {outer, inner}.
  std::pair<std::size_t, std::size_t> split(std::size_t loop, std::int64_t factor);
  // The two must be neighbours, outer directly around inner. The fused loop takes their place.
  std::size_t fuse(std::size_t outer, std::size_t inner);
  // All loops, outermost first.
  void reorder(std::vector<std::size_t> order);
  void set_kind(std::size_t loop, ir::ForKind kind) { loops_[loop].kind = kind; }

  struct AxisValue {
    Expr axis;   // the stage's variable
    Expr value;  // in terms of the loops' variables
  };
  std::vector<AxisValue> axis_values() const;
  // What must hold for an iteration to be a point of the stage: one condition a split that does not divide evenly.
  std::vector<Expr> guards() const;

 private:
  struct Relation {
    std::size_t parent, outer, inner;  // split: parent = outer * factor + inner
    std::int64_t factor = 0;           // 0: a fusion, parent (the fused loop) = outer * extent(inner) + inner
  };
  std::size_t add(Loop loop);
  std::vector<Expr> values() const;  // of every loop ever made

  std::vector<Loop> loops_;
  std::vector<Expr> axes_, mins_;
  std::vector<std::size_t> order_;
  std::vector<Relation> relations_;
  std::size_t spatial_axes_ = 0;
};

}  // namespace ferry::schedule
