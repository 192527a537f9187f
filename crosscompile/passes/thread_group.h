// Which threads of a block do something together: all that differ only in some axes.
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

// The loops over threads that stand directly in each other, outermost first, and what is inside.
struct ThreadNest {
  std::vector<ThreadAxis> axes;
  const ir::For* innermost = nullptr;
};
ThreadNest thread_nest(const ir::For& outermost);
// The same loops around something else.
ir::Stmt with_body(const ir::For& outermost, const ir::For& innermost, ir::Stmt body);

struct ThreadGroup {
  ir::Expr member, group;  // the running thread's number in its group, and the group's
  std::int64_t size = 1, groups = 1;
  bool is_consecutive = false;  // the block numbers a group's threads one after the other

  // Whether its members are a part of a warp that shuffles with a mask stay in, or whole warps (the last may have
  // fewer threads).
  bool fits_warps() const;
};
// The threads of the block that differ in these variables, of `axes`.
ThreadGroup group_of(std::span<const ThreadAxis> axes, std::span<const ir::Expr> vars);

}  // namespace ferry::passes
