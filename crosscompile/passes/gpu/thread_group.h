// Groups of threads of a block that act together: all threads that differ only in some axes.
#pragma once

#include "crosscompile/ir/stmt.h"

#include <span>
#include <vector>

namespace ferry::passes {

// A loop over the threads of a block.
struct ThreadAxis {
  ir::ForKind kind;
  ir::Expr var;
  std::int64_t extent;
};

// Perfectly nested loops over threads, outermost first, and the innermost of them.
struct ThreadNest {
  std::vector<ThreadAxis> axes;
  const ir::For* innermost = nullptr;
};
ThreadNest thread_nest(const ir::For& outermost);
// Returns the same loops around another body.
ir::Stmt with_body(const ir::For& outermost, const ir::For& innermost, ir::Stmt body);

struct ThreadGroup {
  ir::Expr member, group;  // the running thread's number in its group, and the group's number
  std::int64_t size = 1, groups = 1;
  bool is_consecutive = false;  // the block numbers the threads of a group consecutively

  // Returns whether each group is a part of a warp that shuffles with a mask do not leave, or consists of whole warps
  // (the last may have fewer threads).
  bool fits_warps() const;
};
// Returns the group of threads that differ in these variables, which are among `axes`.
ThreadGroup group_of(std::span<const ThreadAxis> axes, std::span<const ir::Expr> vars);

}  // namespace ferry::passes
