// The steps of the reduction tree in which the threads of a group combine their values (reduce_threads.h).
#pragma once

#include "crosscompile/passes/gpu/thread_group.h"

namespace ferry::passes {

// An element of a thread's own memory.
struct Element {
  ir::BufferRef buffer;
  std::vector<ir::Expr> indices;
  ir::Expr load() const { return ir::Load::make(buffer, indices); }
};
// One element for each component of a tuple.
using Elements = std::vector<Element>;

// Applies left = combine(left, right), as the body of a loop defines it.
class Combiner {
 public:
  // `body`: combines elements of `from` into those of `into`, in the order of the components.
  Combiner(ir::Stmt body, std::vector<const ir::Buffer*> into, std::vector<const ir::Buffer*> from)
      : body_(std::move(body)), into_(std::move(into)), from_(std::move(from)) {}
  ir::Stmt apply(const Elements& left, const Elements& right) const;

 private:
  ir::Stmt body_;
  std::vector<const ir::Buffer*> into_, from_;
};

// Steps that combine `own` over the threads of the group; afterwards `result` holds the total in every thread.
struct CombineSteps {
  std::vector<ir::Stmt> steps;
  std::vector<ir::BufferRef> shared;  // belong to the block
  std::vector<ir::BufferRef> local;   // allocated around the steps
  Elements result;
};
CombineSteps shuffle_steps(const Combiner& combiner, const ThreadGroup& group, const Elements& own);
CombineSteps tree_steps(const Combiner& combiner, const ThreadGroup& group, const Elements& own);

}  // namespace ferry::passes
