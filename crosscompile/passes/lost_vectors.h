// Finds vectorized loops of a schedule that the passes execute one element at a time, so that ferry can warn about
// them.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <string>
#include <vector>

namespace ferry::passes {

// Returns the names of a lowered function's vectorized loops over results in which no store is a vector on this target,
// not even in part. Runs the passes up to the point where that is decided. Returns nothing on targets that keep such
// loops.
std::vector<std::string> lost_vectors(const ir::Function& lowered, const Target& target);

}  // namespace ferry::passes
