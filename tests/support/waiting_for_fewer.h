// Kernels with a planted defect: a wait that lets more asynchronous copies stay in flight than it may.
#pragma once

#include "crosscompile/ir/async_copy.h"
#include "crosscompile/ir/function.h"
#include "crosscompile/ir/mutator.h"

namespace ferry::test {

class WaitLoosener : public ir::Mutator {
 public:
  explicit WaitLoosener(std::int64_t more) : more_(more) {}

 protected:
  ir::Stmt mutate_node(const ir::Evaluate& node, const ir::Stmt& self) override {
    const auto left = ir::groups_left(node);
    return left ? ir::make_wait_copies(*left + more_) : self;
  }
  using ir::Mutator::mutate_node;

 private:
  std::int64_t more_;
};

// Raises the number of groups of copies left in flight at each wait by `more`.
inline ir::Function waiting_for_fewer(ir::Function function, std::int64_t more) {
  function.body = WaitLoosener(more).mutate(function.body);
  return function;
}

}  // namespace ferry::test
