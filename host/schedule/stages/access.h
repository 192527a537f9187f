// How the loads of an expression move through memory when one variable steps by one: what default schedules are chosen
// by.
#pragma once

#include "crosscompile/ir/expr.h"

#include <vector>

namespace ferry::schedule {

enum class Step : std::uint8_t {
  none,        // the same element
  contiguous,  // the next element
  skipping,    // every second to fourth element: still few cache lines a vector
  strided,     // anything else
};

Step step_of(const ir::Load& load, const ir::Expr& var);

// Every load, those inside conditions and indices too.
std::vector<const ir::Load*> loads_of(const ir::Expr& expr);

}  // namespace ferry::schedule
