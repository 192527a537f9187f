// Finds the function of a file that a signature describes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "crosscompile/foreign/foreign.h"
#include "crosscompile/link/inspect_object.h"

namespace ferry::foreign {

// Returns the symbol as the object defines it: the function with the signature's name, or the only function there is.
// Throws CompileError with the nearest names.
std::string find_function(const link::ObjectFacts& facts, const ForeignKernel& kernel, const Signature& signature);

// Returns what says how the functions of a file are declared: debug information of C and C++, or LLVM IR. Nothing for
// machine code.
std::vector<std::uint8_t> declarations_of(const ForeignKernel& kernel, const Target& target);

// Throws CompileError when the function with this symbol is declared differently from its signature.
void check_declaration(std::span<const std::uint8_t> declarations, const ForeignKernel& kernel,
                       const Signature& signature, const std::string& symbol);

}  // namespace ferry::foreign
