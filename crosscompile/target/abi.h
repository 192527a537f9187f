// Conventions of a CPU's binaries that neither the triple nor LLVM's defaults say.
#pragma once

#include "ferry/target/target.h"

#include <cstdint>

namespace ferry {

struct Abi {
  // LLVM's name of the calling convention: of RISC-V, in which registers floats are passed. Empty: the triple says it.
  const char* calling_convention = "";
  // Values of the options -mabi and -mfloat-abi of compilers that agree with the convention; empty: any.
  const char* mabi = "";
  const char* float_abi = "";
  // Every 32-bit integer is passed sign-extended to a register, unsigned ones too.
  bool sign_extends_32_bits = false;
  // Unwind tables refer to functions of the compiler's library, even in objects that never throw.
  bool has_unwind_helpers = false;
  // Compilers call functions of their library for atomic operations, unless they are told not to.
  bool has_outlined_atomics = false;
  // The largest pages in use.
  std::uint32_t page_bytes = 4096;
};

Abi abi_of(const Target& target);

}  // namespace ferry
