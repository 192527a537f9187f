// What values an integer expression can take, from the ranges of loop variables: decides when a floor division may be
// an unsigned or a narrower one. Conservative: anything that could wrap is unknown.
#pragma once

#include "crosscompile/ir/expr.h"

#include <limits>
#include <unordered_map>

namespace ferry::passes {

// Inclusive at both ends; of every lane.
struct ValueRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();

  bool within(std::int64_t low, std::int64_t high) const { return min >= low && max <= high; }
  bool is_non_negative() const { return min >= 0; }
};

using ValueRanges = std::unordered_map<const ir::ExprNode*, ValueRange>;  // of variables; those not listed are unknown

// Of an integer or bool expression. u64 counts as unknown.
ValueRange range_of(const ValueRanges& variables, const ir::Expr& expr);
// Of the variable of a loop. Counts on kMaxIterations: nobody lives to see more.
inline constexpr std::int64_t kMaxIterations = std::int64_t{1} << 56;
ValueRange loop_range(const ValueRange& min, const ValueRange& extent);

}  // namespace ferry::passes
