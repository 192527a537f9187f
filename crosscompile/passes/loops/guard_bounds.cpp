#include "crosscompile/passes/loops/guard_bounds.h"

#include "crosscompile/analysis/wrapping.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <algorithm>
#include <cstdlib>

namespace ferry::passes {

using namespace ir;

std::optional<GuardBounds> bounds_over(const Guard& guard, const std::vector<analysis::Range>& between) {
  const auto worst = analysis::lower_bound(guard.margin, between);
  const auto span = analysis::variation(guard.margin, between);
  if (!worst || !span || analysis::reach_of(*worst).wraps) return std::nullopt;
  return GuardBounds{&guard, *worst, *span};
}

bool depends_on(const Guard& guard, const Expr& var) {
  return uses_var(guard.margin, var) ||
         std::any_of(guard.inner.begin(), guard.inner.end(), [&](const analysis::Range& range) {
           return uses_var(range.min, var) || uses_var(range.extent, var);
         });
}

bool is_mostly_wanted(const GuardBounds& bounds, std::int64_t coefficient, const Expr& extent) {
  const std::int64_t* known = as_int(extent);
  return known == nullptr || bounds.span / std::abs(coefficient) * 2 < *known;
}

Expr position_of(const analysis::Affine& margin, Assumptions& assumptions) {
  const std::int64_t c = margin.coefficient;
  return assumptions.simplify(c > 0 ? -(margin.rest / Expr(c)) : (margin.rest + Expr(-c)) / Expr(-c));
}

}  // namespace ferry::passes
