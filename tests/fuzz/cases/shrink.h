// Shrinks a failing case: fewer directives, stages and outputs, smaller sizes and simpler expressions, as long as it
// fails in the same way.
#pragma once

#include "tests/fuzz/cases/run_case.h"

namespace ferry::fuzz {

struct Shrunk {
  FuzzCase fuzz_case;
  Outcome outcome;
};

// Runs at most `tries` candidates.
Shrunk shrink(FuzzCase fuzz_case, Outcome outcome, int tries);

}  // namespace ferry::fuzz
