// What convolutions and products of 8-bit integers have in common: factors of the types that instructions multiply, and
// the zero point's share of the sums.
#pragma once

#include "ferry/integer_products.h"
#include "ferry/ops/convolution.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::ops {

Expr as_int32(const Expr& value);

// Returns a weight as a factor. Where no weight is -128, taking the maximum changes none, and shows it.
Expr factor_of(const Expr& weight, const IntegerProducts& products);

// An image as the factors of products, and what padding has.
struct Factors {
  Tensor image;
  Expr zero_point;
};

// A stage that changes the image is called NAME.flipped or NAME.centered.
Factors factors_of(const Tensor& x, const Expr& zero_point, IntegerFactors factors, const std::string& name);

// Returns an image in blocks with the padding of two windows, NAME.pad.
Tensor padded_with(const Tensor& image, const std::vector<Window>& windows, const Expr& zero, const std::string& name);

// Returns sums of products in blocks, [N, blocks, H, W, lanes], without the zero point's share, NAME.offsets. `totals`
// are the sums of the weights, [blocks, lanes].
Tensor without_offsets(const Tensor& products, const Tensor& totals, const Expr& zero, const std::string& name);

// Throws CompileError "expected X, got Y".
void expect_integer_types(const Tensor& x, const Tensor& weights, const IntegerProducts& products,
                          const std::string& name);

// Returns the number of channels in a block of an image [N, blocks, H, W, c].
std::int64_t channels_in_block(const Tensor& x, const std::string& name);

}  // namespace ferry::ops
