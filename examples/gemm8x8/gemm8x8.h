// A micro-kernel in C, and its definition as loops.
#pragma once

#include "ferry/intrinsics.h"

#include <memory>

namespace ferry::example {

// Returns a context with the tensor intrinsic "gemm8x8", C[8,8] += A[8,8] * B[8,8], and its object code for this
// machine.
std::shared_ptr<const Context> with_gemm8x8();

}  // namespace ferry::example
