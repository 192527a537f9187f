// Compiles kernels that ferry did not generate, C, C++, LLVM IR, assembly, an object or CUDA C, with a signature, into
// a .ferry file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crosscompile/foreign/signature.h"
#include "crosscompile/target/code_form.h"
#include "ferry/target/target.h"

namespace ferry::foreign {

struct ForeignKernel {
  std::string file;
  std::vector<Signature> signatures;  // the functions to export, at least one
  std::vector<std::string> flags;     // for clang or NVRTC
  // Shipped with the module for people to read; empty for objects. CUDA C is compiled from it.
  std::string source;
};

// Throws CompileError with clang's message, and when a function is missing (with the nearest name) or is declared
// differently from its signature, when the object is for another architecture, or when it contains or calls something
// that devices do not load or offer (by name). If a file has only one function, that one is used whatever its name.
// The form is linked or relinkable; a shared object is linked
// already, and stays so.
std::vector<std::uint8_t> compile_foreign(const ForeignKernel& kernel, const Target& target,
                                          CodeForm form = CodeForm::linked);

}  // namespace ferry::foreign
