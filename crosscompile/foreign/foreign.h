// Kernels that ferry did not write: C, C++, LLVM IR, assembly or an object, with a signature, into a .ferry file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crosscompile/foreign/signature.h"
#include "crosscompile/target/target.h"

namespace ferry::foreign {

// Whether the file's name says that it is one of these.
bool is_foreign(const std::string& file);

struct ForeignKernel {
  std::string file;
  std::vector<Signature> signatures;  // of the functions to take, one at least
  std::vector<std::string> flags;     // for clang
  std::string source;                 // travels with the module, for people; empty for objects
};

// CompileError: clang's words, a function that is not there (with the nearest that is), one that is declared otherwise
// than its signature says, an object for another architecture, what devices do not load or offer, by name. The only
// function of a file is taken whatever it is called. code_padding moves the code by so many bytes.
std::vector<std::uint8_t> compile_foreign(const ForeignKernel& kernel, const Target& target,
                                          std::uint32_t code_padding = 0);

}  // namespace ferry::foreign
