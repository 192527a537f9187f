// Kernels with a planted defect: one barrier is removed.
#pragma once

#include "crosscompile/ir/barrier.h"
#include "crosscompile/ir/function.h"
#include "crosscompile/ir/mutator.h"

namespace ferry::test {

class BarrierRemover : public ir::Mutator {
 public:
  explicit BarrierRemover(int which) : which_(which) {}
  int seen = 0;

 protected:
  ir::Stmt mutate_node(const ir::Evaluate& node, const ir::Stmt& self) override {
    if (!ir::is_barrier(node)) return self;
    return seen++ == which_ ? ir::Stmt() : self;
  }
  using ir::Mutator::mutate_node;

 private:
  int which_;
};

inline int count_barriers(const ir::Function& function) {
  BarrierRemover counter(-1);
  (void)counter.mutate(function.body);
  return counter.seen;
}

inline ir::Function without_barrier(ir::Function function, int which) {
  function.body = BarrierRemover(which).mutate(function.body);
  return function;
}

}  // namespace ferry::test
