// x86 raises an exception for a gather two of whose vector registers are the same: the destination, the indices and,
// with AVX2, the mask. Whether a processor meets such an instruction depends on the input, so the code is searched.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

#include <string>

namespace ferry::fuzz {

// Of assembly in AT&T's syntax: the first such instruction; empty when there is none.
std::string impossible_gather(const std::string& assembly);

// Whether code generation may use gathers for this function, which passes have flattened.
bool may_gather(const ir::Function& function, const Target& target);

}  // namespace ferry::fuzz
