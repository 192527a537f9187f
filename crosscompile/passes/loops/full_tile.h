// Loop versioning: one test of whether a tile is full, which means that the guards of a statement all have their wanted
// outcome, chooses between the statement without these guards and the statement with them.
#pragma once

#include "crosscompile/passes/loops/guards.h"

namespace ferry::passes {

class FullTile {
 public:
  // Adds a guard, which has its wanted outcome in all of a tile's iterations where the condition holds.
  void add(const Guard& guard, const ir::Expr& condition);

  // Returns how many guards a full tile decides.
  std::size_t guards() const { return wanted_.size(); }
  // Returns the condition under which the tile is full. Requires a guard.
  ir::Expr condition(Assumptions& assumptions) const { return assumptions.simplify(condition_); }
  // Returns the statement without the guards; may be nothing.
  ir::Stmt full(const ir::Stmt& stmt) const { return assume(stmt, wanted_); }

 private:
  ir::Expr condition_;
  Outcomes wanted_;
};

// Makes: if (condition) full else other. Either side may be nothing; the two must not share variables.
ir::Stmt choose_version(const ir::Expr& condition, const ir::Stmt& full, const ir::Stmt& other);

}  // namespace ferry::passes
