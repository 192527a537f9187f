// Vectorized loops of a schedule that the passes run one element after the other: what is asked for and not done is
// worth a warning.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

#include <string>
#include <vector>

namespace ferry::passes {

// The names of a lowered function's vectorized loops over results in which nothing is stored as a vector on this
// target, not even in part. Runs the passes as far as that is decided. None on targets that keep such loops.
std::vector<std::string> lost_vectors(const ir::Function& lowered, const Target& target);

}  // namespace ferry::passes
