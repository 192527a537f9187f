// Finds the function of a file that a signature describes.
#pragma once

#include <string>

#include "crosscompile/foreign/foreign.h"
#include "crosscompile/link/inspect_object.h"

namespace ferry::foreign {

// Returns the symbol as the object defines it: the function with the signature's name, or the only function there is.
// Throws CompileError with the nearest names.
std::string find_function(const link::ObjectFacts& facts, const ForeignKernel& kernel, const Signature& signature);

// Throws CompileError when the C or C++ declaration disagrees with the signature. For machine code there is nothing to
// check.
void check_declaration(const ForeignKernel& kernel, const Signature& signature, const std::string& symbol,
                       const Target& target);

}  // namespace ferry::foreign
