// A guard seen from a loop around it: where its outcome becomes certain over the loops between.
#pragma once

#include "crosscompile/passes/guards.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ferry::passes {

struct GuardBounds {
  const Guard* guard;
  ir::Expr worst;     // the smallest margin over the loops between
  std::int64_t span;  // by how much the margin varies over them
};

// Over these loops, `between`; nothing when the margin has no bound.
std::optional<GuardBounds> bounds_over(const Guard& guard, const std::vector<Range>& between);

// Whether the loop's variable has a say in the guard.
bool depends_on(const Guard& guard, const ir::Expr& var);

// Whether most iterations of a loop of this extent are on the wanted side: the margin must move past the span of the
// loops between well before the end. For an unknown extent, a constant span is enough.
bool is_mostly_wanted(const GuardBounds& bounds, std::int64_t coefficient, const ir::Expr& extent);

// Where coefficient * variable + rest becomes at least 0 or, with a negative coefficient, ceases to be.
ir::Expr position_of(const Affine& margin, Knowledge& knowledge);

}  // namespace ferry::passes
