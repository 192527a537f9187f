// Shared by the files of LaneMutator.
#pragma once

#include "crosscompile/ir/expr.h"
#include "crosscompile/passes/vector/lanes.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ferry::passes {

// Thrown inside LaneMutator where a statement has no vector form, and caught by or_scalar.
struct NoVectorForm {};

// Sets a value for the duration of a scope, whether the scope ends normally or by NoVectorForm.
template <class T>
class Scoped {
 public:
  Scoped(T& place, T value) : place_(place), outer_(std::exchange(place, std::move(value))) {}
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;
  ~Scoped() { place_ = std::move(outer_); }

 private:
  T& place_;
  T outer_;
};

inline std::uint32_t lanes_of(const std::vector<ir::Expr>& exprs) {
  std::uint32_t lanes = 1;
  for (const ir::Expr& expr : exprs) lanes = std::max(lanes, expr.type().lanes);
  return lanes;
}

inline std::vector<ir::Expr> widen_all(std::vector<ir::Expr> exprs, std::uint32_t lanes) {
  for (ir::Expr& expr : exprs) expr = widen(expr, lanes);
  return exprs;
}

// Returns the operands of a conjunction.
inline std::vector<ir::Expr> conjuncts(const ir::Expr& condition) {
  const auto* both = condition.as<ir::Binary>();
  if (both == nullptr || both->op != ir::BinaryOp::logical_and) return {condition};
  std::vector<ir::Expr> parts = conjuncts(both->left);
  for (ir::Expr& part : conjuncts(both->right)) parts.push_back(std::move(part));
  return parts;
}

}  // namespace ferry::passes
