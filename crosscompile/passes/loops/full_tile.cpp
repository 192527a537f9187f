#include "crosscompile/passes/loops/full_tile.h"

#include "ferry/operators.h"

namespace ferry::passes {

using namespace ir;

void FullTile::add(const Guard& guard, const Expr& condition) {
  condition_ = condition_.defined() ? condition_ && condition : condition;
  wanted_.emplace(guard.comparison, guard.wanted);
}

Stmt choose_version(const Expr& condition, const Stmt& full, const Stmt& other) {
  if (full.defined()) return If::make(condition, full, other);
  return other.defined() ? If::make(!condition, other) : Stmt();
}

}  // namespace ferry::passes
