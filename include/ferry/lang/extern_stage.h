// Stages that a C function computes as a whole.
//
//     Tensor s = extern_stage({m, n}, [&](auto& i) { return sum(a(i[0], k) * b(k, i[1]), {k}); },
//                             "my_gemm", {a, b, m, n, a.shape()[1]}, "S");
//
//     void my_gemm(float* s, const float* a, const float* b, int64_t m, int64_t n, int64_t k);
//
// `definition` defines what the function computes; the reference evaluator and the inference of the regions read rely
// on it. The code comes from the program's Context (ferry/intrinsics.h: add_object), one object for each architecture.
#pragma once

#include "ferry/lang/tensor.h"

#include <concepts>
#include <string>
#include <utility>
#include <vector>

namespace ferry::lang {

// An argument of a C function after the address of its result: a tensor's address, or a number.
struct ExternArgument {
  template <std::same_as<Tensor> T>
  ExternArgument(T argument) : tensor(std::move(argument)) {}
  template <std::convertible_to<Expr> E>
  ExternArgument(E argument) : number(std::move(argument)) {}

  Tensor tensor;
  Expr number;
};
// The function gets the address of the result, then the address of each tensor's first element and each number in the
// order of `arguments`; integers are passed as int64_t, floats as float or double. All tensors are dense. Throws
// CompileError unless the tensors that `definition` reads are exactly those among the arguments.
Tensor extern_stage(std::vector<Expr> shape, const ElementFunction& definition, std::string function,
                    std::vector<ExternArgument> arguments, std::string name);

}  // namespace ferry::lang
