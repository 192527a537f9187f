// On x86, a gather raises an exception if two of its vector registers are the same: the destination, the indices and,
// with AVX2, the mask. Whether a processor executes such an instruction depends on the input, so the code is searched.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <string>

namespace ferry::fuzz {

// Returns the first such instruction in assembly in AT&T syntax; empty if there is none.
std::string impossible_gather(const std::string& assembly);

// Returns whether code generation may use gathers for this function, which passes have flattened.
bool may_gather(const ir::Function& function, const Target& target);

}  // namespace ferry::fuzz
