// Measures the size of an expression without walking its tree: a small graph with shared parts may stand for a huge
// tree.
#pragma once

#include "crosscompile/ir/expr.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace ferry::lang {

class ExpressionSize {
 public:
  // Number of operations in the tree, shared parts counted at every use; saturates just above kMaxOperations.
  std::size_t operations(const ir::Expr& expr);
  // Depth of the deepest chain of producers below any tensor that the measured expressions read.
  std::uint32_t producer_depth() const { return producer_depth_; }

 private:
  std::size_t children(const ir::Expr& expr);

  std::unordered_map<const ir::ExprNode*, std::size_t> sizes_;
  std::uint32_t producer_depth_ = 0;
};

}  // namespace ferry::lang
