// Compiles printed kernels to cubins with NVIDIA's compiler.
#pragma once

#include "crosscompile/ir/function.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry {

// Compiles CUDA C for a GPU such as "sm_90". `after_passes` are the functions that the text was printed from. Throws
// CompileError with the compiler's messages, mapped back to the program, and for a block whose threads do not fit in
// the GPU's registers.
std::vector<std::uint8_t> cubin_of(const std::string& text, const std::string& gpu,
                                   std::span<const ir::Function> after_passes);

}  // namespace ferry
