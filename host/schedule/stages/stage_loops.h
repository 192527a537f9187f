// The loops of one stage: their order, their kinds, and how the stage's axes are computed from them. Directives rewrite
// this; lowering reads it.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "ferry/lang/tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferry::schedule {

using ir::Expr;

// The dependence of the iterations of a loop on each other.
enum class Dependence : std::uint8_t {
  none,      // they run in any order
  sequence,  // they run one after the other: the loop is over the axis of a lang::Sequence
  step,      // they run in any order, but all of them before the next iteration of the sequence
};

struct Loop {
  std::string name;
  Expr var;  // runs over [0, extent)
  Expr extent;
  bool reduces = false;  // over an axis of the reduction
  ir::ForKind kind = ir::ForKind::serial;
  Dependence dependence = Dependence::none;
};

// The values [min, min + extent) of an axis that are computed.
struct AxisRange {
  Expr min, extent;
};

class StageLoops {
 public:
  StageLoops() = default;
  // Starts with one serial loop for each axis: the stage's axes in order, then those of its reduction.
  StageLoops(const std::vector<ir::Axis>& axes, const std::vector<ir::Axis>& reduction);

  // Outermost first; ids stay valid until the loop is split or fused.
  const std::vector<std::size_t>& order() const { return order_; }
  const Loop& loop(std::size_t id) const { return loops_[id]; }
  bool is_in_order(std::size_t id) const;
  // Returns the loop with that name, whether it is in the order or has been split or fused.
  std::optional<std::size_t> find(const std::string& name) const;
  // Returns the loops that replaced a split or fused loop.
  std::vector<std::size_t> replacements(std::size_t id) const;
  // Return the loop over the stage's axis, or over the reduction's; valid only until it is split or fused.
  std::size_t spatial(std::size_t axis) const { return axis; }
  std::size_t reduction(std::size_t axis) const { return spatial_axes_ + axis; }
  std::size_t spatial_axes() const { return spatial_axes_; }

  // Makes an outer loop (extent / factor, rounded up) around an inner one (factor). Empty names become NAME.outer and
  // NAME.inner. Returns {outer, inner}.
  std::pair<std::size_t, std::size_t> split(std::size_t loop, std::int64_t factor, std::string outer_name = {},
                                            std::string inner_name = {});
  // The same for a given number of outer iterations.
  std::pair<std::size_t, std::size_t> split_parts(std::size_t loop, std::int64_t parts, std::string outer_name = {},
                                                  std::string inner_name = {});
  // The two must be adjacent, outer directly around inner. The fused loop replaces them. `facts` are conditions that
  // hold; they keep the extent simple.
  std::size_t fuse(std::size_t outer, std::size_t inner, std::string name = {}, const std::vector<Expr>& facts = {});
  // `order` contains all loops, outermost first.
  void reorder(std::vector<std::size_t> order);
  void set_kind(std::size_t loop, ir::ForKind kind) { loops_[loop].kind = kind; }

  // The elements are computed in order along the spatial axis `axis` and read earlier ones along the axes that are
  // `crossed` (lang::Sequence). Loops over these, and those of a reduction, move inside the loop over `axis`. Called
  // before any other change.
  void set_sequence(std::size_t axis, const std::vector<bool>& crossed);
  // Returns what keeps the loops from computing the elements in this order, such as "'i' outside of 'j'"; empty if they
  // do or if there is no order.
  std::string why_out_of_sequence() const;

  // Returns the same loops over other ranges of the stage's axes: `ranges` has one for each; reductions keep theirs.
  // `facts` are conditions that hold where the loops are.
  StageLoops over(const std::vector<AxisRange>& ranges, const std::vector<Expr>& facts) const;

  struct AxisValue {
    Expr axis;   // the stage's variable
    Expr value;  // in terms of the loops' variables
  };
  std::vector<AxisValue> axis_values() const;
  // Returns the conditions under which an iteration is a point of the stage: one for each split that does not divide
  // evenly.
  std::vector<Expr> guards() const;

 private:
  enum class Kind : std::uint8_t { split, split_parts, fuse };
  struct Relation {
    Kind kind;
    std::size_t parent, outer, inner;
    std::int64_t factor = 0;  // a split's extent of the inner loop, or of the outer one
  };
  std::size_t add(Loop loop);
  std::pair<std::size_t, std::size_t> split(Kind kind, std::size_t loop, std::int64_t factor, std::string outer_name,
                                            std::string inner_name);
  void set_extents(const Relation& relation, const std::vector<Expr>& facts = {});
  std::vector<Expr> values() const;  // one for each loop ever made
  // Appends the loops of the order that a loop has become, in the order in which they count its iterations.
  void append_parts(std::size_t loop, std::vector<std::size_t>& parts) const;

  std::vector<Loop> loops_;
  std::vector<Expr> axes_, mins_;
  std::vector<std::size_t> order_;
  std::vector<Relation> relations_;
  std::size_t spatial_axes_ = 0;
  std::optional<std::size_t> sequence_;  // the axis along which elements are computed in order
};

}  // namespace ferry::schedule
