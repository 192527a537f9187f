// A guard seen from an enclosing loop: the bounds of its margin over the loops in between.
#pragma once

#include "crosscompile/passes/loops/guards.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ferry::passes {

struct GuardBounds {
  const Guard* guard;
  ir::Expr worst;     // the smallest margin over the loops in between
  std::int64_t span;  // by how much the margin varies over them
};

// Returns the bounds over the loops `between`; nothing when the margin has no bound.
std::optional<GuardBounds> bounds_over(const Guard& guard, const std::vector<analysis::Range>& between);

// Returns whether the guard depends on the loop's variable.
bool depends_on(const Guard& guard, const ir::Expr& var);

// Returns whether most iterations of a loop of this extent have the wanted outcome: the margin must move past the span
// of the loops in between well before the end. For an unknown extent, a constant span is enough.
bool is_mostly_wanted(const GuardBounds& bounds, std::int64_t coefficient, const ir::Expr& extent);

// Returns where coefficient * variable + rest becomes at least 0 or, with a negative coefficient, becomes negative.
ir::Expr position_of(const analysis::Affine& margin, Assumptions& assumptions);

}  // namespace ferry::passes
