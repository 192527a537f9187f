// The function of a file that a signature is of.
#pragma once

#include <string>

#include "crosscompile/foreign/foreign.h"
#include "crosscompile/link/inspect_object.h"

namespace ferry::foreign {

// As the object calls it: the one of the signature's name, or the only one there is. CompileError with the nearest
// names.
std::string find_function(const link::ObjectFacts& facts, const ForeignKernel& kernel, const Signature& signature);

// CompileError when C or C++ declares it otherwise than the signature says. Of machine code nothing is known.
void check_declaration(const ForeignKernel& kernel, const Signature& signature, const std::string& symbol,
                       const Target& target);

}  // namespace ferry::foreign
