// Prints a program in readable form:
//
//     mm(in f32[M, K] A, in f32[K, N] B, out f32[M, N] C)
//       C(m, n) = sum(A[m, k] * B[k, n]; k in 0:K)
#pragma once

#include "ferry/lang/program.h"

#include <string>

namespace ferry::lang {

std::string to_text(const Program& program);

}  // namespace ferry::lang
