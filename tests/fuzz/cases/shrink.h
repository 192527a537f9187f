// Makes a failing case small: fewer directives, stages and outputs, smaller sizes, simpler expressions, as long as it
// fails in the same way.
#pragma once

#include "tests/fuzz/cases/run_case.h"

namespace ferry::fuzz {

struct Shrunk {
  FuzzCase fuzz_case;
  Outcome outcome;
};

// At most `tries` candidates are run.
Shrunk shrink(FuzzCase fuzz_case, Outcome outcome, int tries);

}  // namespace ferry::fuzz
