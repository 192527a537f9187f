// Functions that compilers call, or that C has, and that devices do not offer: 128-bit division, conversions of 16-bit
// floats, complex products, and part of <math.h>. They are written in C (helpers/) and linked into kernels that call
// them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ferry/target/target.h"

namespace ferry::foreign {

struct HelperFile {
  const char* name;
  const char* text;
  std::vector<std::string> symbols;  // its definitions on at least one architecture
};
const std::vector<HelperFile>& helper_files();

// Returns the objects that define what helpers define of these symbols, compiled for the target. Throws CompileError if
// there is no compiler.
std::vector<std::vector<std::uint8_t>> helper_objects(std::span<const std::string> symbols, const Target& target);

// Returns what a function that only compilers call is for, such as "long double"; empty for others.
std::string purpose_of(const std::string& symbol);

}  // namespace ferry::foreign
