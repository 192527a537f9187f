// The loops of one stage's nest as they are emitted around its body: the schedule's loops with the unrolling that it
// advises, the guards of an iteration, and the place of an iteration's results in memory.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "crosscompile/ir/substitute.h"
#include "host/lower/nest.h"

#include <functional>
#include <unordered_map>
#include <vector>

namespace ferry::lower {

using ir::Stmt;

// Returns the body of a loop of the nest including the stages attached to it, given the body without them.
// `is_real_iteration`, if defined, tells whether this is a real iteration of the nest: an empty reduction runs one
// iteration to store the initial values of its results, in which nothing else may be computed.
using LoopBody = std::function<Stmt(std::size_t loop, Stmt body, const Expr& is_real_iteration)>;

// Wraps the body in the loops, given outermost first, without the stages attached to them.
Stmt wrap_in_loops(const std::vector<LoopCopy>& loops, Stmt body);

class NestLoops {
 public:
  // Throws CompileError for a vectorized or unrolled loop whose extent is not constant.
  NestLoops(const Nest& nest, const LoopBody& loop_body);

  // Outermost first.
  const std::vector<LoopCopy>& order() const { return order_; }
  // Conditions under which an iteration is a point of the stage.
  const std::vector<Expr>& guards() const { return guards_; }
  // Indices into the storage of each output.
  const std::vector<std::vector<Expr>>& points() const { return points_; }
  // Returns an expression over the stage's axes in terms of the loops' variables.
  Expr at_point(const Expr& expr) const;
  // Stores a value for each output.
  Stmt store_all(const std::vector<Expr>& values) const;

  // Wraps the body in the loops, given outermost first, with the stages attached to them.
  Stmt wrap_with_attached_stages(const std::vector<LoopCopy>& loops, Stmt body) const;
  // Makes the outermost loops run at least once, because the first iteration of a reduction loop sets the initial
  // values of the results. `outside`: a copy of these loops, whose extents change. An iteration that the schedule does
  // not have fails a guard and runs no attached stages.
  void run_at_least_once(std::vector<LoopCopy>& outside);

 private:
  void check_extents() const;
  void apply_unroll_pragmas();

  const Nest& nest_;
  const LoopBody& loop_body_;
  std::unordered_map<std::size_t, Expr> is_real_iteration_;  // by loop, as LoopBody takes it
  std::vector<Expr> guards_;
  std::vector<LoopCopy> order_;
  ir::Substitution axis_values_;
  std::vector<std::vector<Expr>> points_;
};

}  // namespace ferry::lower
