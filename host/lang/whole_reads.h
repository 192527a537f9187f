// Finds the inputs of which a program needs every element, whatever computes it.
#pragma once

#include <vector>

#include "ferry/lang/program.h"

namespace ferry::lang {

// Returns one entry for each parameter. It is conservative: true if an output is defined without a condition by an
// expression that reads the input at variables of its own loops, one for each dimension, which run over all of it.
std::vector<bool> whole_reads(const Program& program);

}  // namespace ferry::lang
