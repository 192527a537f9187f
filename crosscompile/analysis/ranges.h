// Value ranges of integer expressions, derived from the ranges of loop variables. They decide whether a floor division
// may be unsigned or narrower. Conservative: anything that could wrap is unknown.
#pragma once

#include "crosscompile/ir/stmt.h"

#include <limits>
#include <unordered_map>

namespace ferry::analysis {

// Both bounds are inclusive and hold for every lane.
struct ValueRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();

  bool within(std::int64_t low, std::int64_t high) const { return min >= low && max <= high; }
  bool is_non_negative() const { return min >= 0; }
};

using ValueRanges = std::unordered_map<const ir::ExprNode*, ValueRange>;  // by variable; those not listed are unknown

// Returns the range of an integer or bool expression. u64 counts as unknown.
ValueRange range_of(const ValueRanges& variables, const ir::Expr& expr);
// Whether an expression of int8 is never -128: the attribute above_minimum of the buffer that holds its values.
bool is_above_minimum(const ir::Expr& expr);
// Returns the range of a loop's variable. Assumes at most kMaxIterations, more than any loop can run in practice.
inline constexpr std::int64_t kMaxIterations = std::int64_t{1} << 56;
ValueRange range_of_loop(const ValueRanges& variables, const ir::For& loop);

}  // namespace ferry::analysis
