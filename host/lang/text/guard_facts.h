// Facts that hold where an element is read under conditions.
#pragma once

#include "host/lang/text/algebra.h"

#include <vector>

namespace ferry::lang {

// Returns polynomials of indices and sizes that are non-negative where all these conditions hold, derived from
// comparisons of integers.
std::vector<Polynomial> guard_facts(const std::vector<ir::Expr>& conditions, Algebra& algebra);

}  // namespace ferry::lang
