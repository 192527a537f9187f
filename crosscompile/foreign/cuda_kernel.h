// Compiles kernels that a user wrote in CUDA C into modules for GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crosscompile/foreign/foreign.h"

namespace ferry::foreign {

// Compiles as compile_foreign() does, whose errors it has: a cubin for each GPU of the target and, unless a compiler is
// named, PTX of the first for later ones. Each function's plan launches its kernel. The target must be for CUDA.
std::vector<std::uint8_t> compile_cuda_kernel(const ForeignKernel& kernel, const Target& target);

// Returns the PTX of the target's first GPU, with the lines of the source.
std::string cuda_ptx(const ForeignKernel& kernel, const Target& target);

}  // namespace ferry::foreign
