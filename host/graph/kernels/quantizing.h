// Quantization as the end of a kernel: what ends with cast(round(x / scale) + zero_point).
#pragma once

#include "ferry/lang/tensor.h"
#include "host/graph/kernels/kernel_key.h"

#include <cstddef>
#include <optional>

namespace ferry::graph {

// Whether a node divides by constants, and the result is rounded and not that of the group.
bool is_quantizing(const KernelKey& key, std::size_t node);

struct Quantized {
  std::size_t quotient = 0;         // a node
  std::optional<std::size_t> zero;  // an input, added after rounding
};
// Finds of which quotient a cast makes bytes; nothing for other nodes.
std::optional<Quantized> quantized_by(const KernelKey& key, const KernelNode& cast);

// Returns round_even(x) + zero as a byte, limited to its range, where `zero` is an integer that fits a byte, or
// nothing. NaN becomes a limit. It takes additions of floats and of integers, and no instructions that round or
// convert.
lang::Expr rounded_byte(DType to, const lang::Expr& x, const lang::Expr& zero);

}  // namespace ferry::graph
