// Classifies how the loads of an expression move through memory when one variable increases by one. Default schedules
// are chosen by this.
#pragma once

#include "crosscompile/ir/expr.h"

#include <vector>

namespace ferry::schedule {

enum class Step : std::uint8_t {
  none,        // the same element
  contiguous,  // the next element
  skipping,    // every second to fourth element: still few cache lines for each vector
  strided,     // anything else
};

Step step_of(const ir::Load& load, const ir::Expr& var);

// Returns every load, including those inside conditions and indices.
std::vector<const ir::Load*> loads_of(const ir::Expr& expr);

}  // namespace ferry::schedule
