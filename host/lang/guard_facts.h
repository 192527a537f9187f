// What is known where an element is read under conditions.
#pragma once

#include "host/lang/polynomial.h"

#include <vector>

namespace ferry::lang {

// Values of indices and sizes that are at least 0 where all these conditions hold, as far as comparisons of integers
// say.
std::vector<Polynomial> guard_facts(const std::vector<ir::Expr>& conditions, Algebra& algebra);

}  // namespace ferry::lang
