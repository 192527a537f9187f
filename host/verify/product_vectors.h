// Checks all elements of a matrix product by random vectors, where computing all of them would take too long: for a
// vector x of signs, C x must be A (B x), up to rounding (R. Freivalds, "Probabilistic machines can use less running
// time", 1977). It takes time in proportion to the tensors' elements, not to the products.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ferry/lang/program.h"
#include "host/kernel/call_plan.h"
#include "host/lang/reference/reference.h"
#include "host/verify/native_comparison.h"

namespace ferry::verify {

// One output of a program that is a sum of products of the elements of two inputs, such as C(m,n) +=! A(m,k) * B(k,n),
// with any number of dimensions of each kind in any order. Each list has the offset of elements within a tensor, by the
// values of all variables of a kind: those in all three tensors, in C and A, in C and B, in A and B.
struct MatrixProduct {
  struct Operand {
    std::size_t parameter = 0;
    DType dtype = DType::f32;
    std::vector<std::uint64_t> batch, outer, inner;  // outer: the variables in C
  };
  Operand a, b;
  std::vector<std::uint64_t> batch, rows, columns;  // offsets within C
  DType accumulator = DType::f32;

  // Number of elements of all three tensors.
  double elements() const;
};

// Returns nothing if the output is defined otherwise.
std::optional<MatrixProduct> product_of(const lang::Program& program, const CallPlan& plan, std::size_t parameter);

struct VectorCheck {
  std::uint32_t vectors = 0;
  // The row of C, as its first element's position, whose sum is further off than rounding explains; nothing: none is.
  std::optional<std::uint64_t> wrong_row = {};
};

// `arguments` are as of lang::Reference, `bytes` are the output's. The sums of a row of correct results differ by its
// elements' rounding errors times random signs, which exceed c times the root of the sum of their squares with a
// probability of at most 2 exp(-c^2 / 2), whatever these errors have to do with each other (W. Hoeffding, "Probability
// inequalities for sums of bounded random variables", 1963); c is such that one of 10,000 checks fails. A row in which
// an element is off by more than that passes each vector with a probability of at most 1/2.
// Returns nothing if that says nothing: of inputs that are not finite, or whose sums may overflow, and where it would
// take longer than so many seconds.
std::optional<VectorCheck> check_by_vectors(const MatrixProduct& product, std::span<const void* const> arguments,
                                            DType output, const std::vector<std::uint8_t>& bytes,
                                            const Tolerance& tolerance, lang::RoundingBound bound, double seconds);

}  // namespace ferry::verify
