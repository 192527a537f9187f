// The steps in which the threads of a group combine what each has (reduce_threads.h).
#pragma once

#include "crosscompile/passes/thread_group.h"

namespace ferry::passes {

// An element of every thread's own.
struct Place {
  ir::BufferRef buffer;
  std::vector<ir::Expr> indices;
  ir::Expr load() const { return ir::Load::make(buffer, indices); }
};
// One for each component of a tuple.
using Places = std::vector<Place>;

// left = combine(left, right), as a loop's body has it.
class Combination {
 public:
  // `body`: combines elements of `from` into those of `into`, in the order of the components.
  Combination(ir::Stmt body, std::vector<const ir::Buffer*> into, std::vector<const ir::Buffer*> from)
      : body_(std::move(body)), into_(std::move(into)), from_(std::move(from)) {}
  ir::Stmt of(const Places& left, const Places& right) const;

 private:
  ir::Stmt body_;
  std::vector<const ir::Buffer*> into_, from_;
};

// Combines `own` over the threads of the group; afterwards every thread of it has all in the places that are returned.
struct Steps {
  std::vector<ir::Stmt> steps;
  std::vector<ir::BufferRef> shared;  // of the block
  std::vector<ir::BufferRef> local;   // around the steps
  Places result;
};
Steps warp_steps(const Combination& combination, const ThreadGroup& group, const Places& own);
Steps tree_steps(const Combination& combination, const ThreadGroup& group, const Places& own);

}  // namespace ferry::passes
