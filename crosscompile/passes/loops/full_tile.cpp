#include "crosscompile/passes/loops/full_tile.h"

#include "crosscompile/ir/operators.h"
#include "crosscompile/passes/loops/fresh_copy.h"

#include <utility>

namespace ferry::passes {

using namespace ir;

void FullTile::add(const Guard& guard, const Expr& condition) {
  condition_ = condition_.defined() ? condition_ && condition : condition;
  wanted_.emplace(guard.comparison, guard.wanted);
}

Stmt choose_version(const Expr& condition, const Stmt& full, const Stmt& other) {
  Stmt second = other.defined() ? fresh_copy(other) : Stmt();
  if (full.defined()) return If::make(condition, fresh_copy(full), std::move(second));
  return second.defined() ? If::make(!condition, std::move(second)) : Stmt();
}

}  // namespace ferry::passes
