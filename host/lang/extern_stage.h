// Stages that a C function computes as a whole.
//
//     Tensor s = extern_stage({m, n}, [&](auto& i) { return sum(a(i[0], k) * b(k, i[1]), {k}); },
//                             "my_gemm", {a, b, m, n, a.shape()[1]}, "S");
//
//     void my_gemm(float* s, const float* a, const float* b, int64_t m, int64_t n, int64_t k);
//
// What it computes is said beside it: the reference evaluator, and bounds of what is read, go by that. The code comes
// from the program's Context (crosscompile/passes/intrinsics.h: add_object), one object for each architecture.
#pragma once

#include "host/lang/tensor.h"

#include <string>
#include <vector>

namespace ferry::lang {

// The function gets the address of the result, and then of each tensor's first element and each number: int64_t for
// integers, float or double. All tensors are dense. Every tensor that the meaning reads must be among the arguments,
// and the other way round. CompileError otherwise.
Tensor extern_stage(std::vector<Expr> shape, const ElementFunction& meaning, std::string function,
                    std::vector<ExternArgument> arguments, std::string name);

}  // namespace ferry::lang
