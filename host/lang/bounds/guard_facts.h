// Facts that hold where an element is read under conditions.
#pragma once

#include "crosscompile/analysis/wrapping.h"
#include "host/lang/bounds/algebra.h"

#include <vector>

namespace ferry::lang {

struct GuardFacts {
  // Polynomials of indices and sizes that are non-negative where all the conditions hold.
  std::vector<Polynomial> facts;
  // The sides of comparisons that may wrap, each with the variable that stands for its 64-bit value in `facts`.
  struct Wrapped {
    ir::Expr side, value;
  };
  std::vector<Wrapped> wrapped;
};

// Derives the facts from comparisons of integers.
GuardFacts guard_facts(const std::vector<ir::Expr>& conditions, Algebra& algebra, const analysis::IsData& is_data);

}  // namespace ferry::lang
