// Averages over the iterations of loops: exact for a few thousand combinations of the loops' variables, from evenly
// spaced samples beyond.
#pragma once

#include "crosscompile/cost/linear_index.h"

#include <optional>
#include <span>

namespace ferry::cost {

struct Iterated {
  const ir::ExprNode* var = nullptr;
  double min = 0, extent = 1;
  bool is_lane = false;
};

// Returns the mean of the expression over the variables of it that are among the loops, the innermost last; nothing if
// it depends on others.
std::optional<double> average(const ir::Expr& expr, std::span<const Iterated> loops);

// In which share of the iterations of all loops but the one over lanes the condition holds for any lane, and in which
// for some lanes only. A condition on data holds always.
struct Share {
  double any = 1, partial = 0;
};
Share share_of(const ir::Expr& condition, std::span<const Iterated> loops, const Variables& variables);

}  // namespace ferry::cost
