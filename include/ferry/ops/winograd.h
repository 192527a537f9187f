// Winograd convolution over images whose channels are stored in blocks of a vector's length: NCHWc.
//
// F(m x m, 3 x 3) computes a tile of m x m results from a tile of (m + 2) x (m + 2) inputs with (m + 2)^2
// multiplications per pair of channels instead of 9 m^2: 2.25 times fewer for m = 2, 4 times fewer for m = 4.
//
//     y = A^T [ sum over c of (G w G^T) * (B^T d B) ] A        w: 3 x 3 weights, d: a tile of the input, *: by element
//
// The transforms evaluate and interpolate polynomials at the points 0, 1, -1 and infinity, for m = 4 also at 1/2 and -2
// (Lavin and Gray 2016; the points: Barabasz et al. 2020, "Error Analysis and Improving the Accuracy of Winograd
// Convolution for Deep Neural Networks").
//
// Rounding. Every result differs from the exact one by at most
//
//     winograd_error_factor(m) * (C + 33) * eps * max|x| * sum|w|
//
// to first order in eps (2^-24 for float32), where C counts the channels of all blocks and sum|w| is over the weights
// of the output channel. The factor is 1 for a direct convolution, 16 for m = 2 and 287 for m = 4. Typical
// errors are much smaller: with random data, their root mean square is 0.6 (m = 2) and 2.7 times (m = 4) that of a
// direct convolution, and the largest errors are 0.5 and 3 times those.
#pragma once

#include "ferry/ops/convolution.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::ops {

// Convolves X [N, ceil(C / c), H, W, c] with weights [O, C, 3, 3] to [N, ceil(O / c), OH, OW, c] in tiles of `tile` x
// `tile` results: 2 or 4. The windows of height and width have strides and dilations of 1 and any padding. Elements of
// X past channel C are not used. Results past channel O are 0. All tensors have the same type of floats.
//
// Stages: the transformed weights NAME.weights (from NAME.weight_rows), which depend on the weights alone, the
// transformed input NAME.input (from NAME.input_rows), their products NAME.products, and the transformed rows of
// products NAME.product_rows, which the result reads.
Tensor winograd_conv2d_blocked(const Tensor& x, const Tensor& weights, const std::vector<Window>& windows,
                               std::int64_t tile, std::string name);

// Returns the factor in the bound of the error of a tile of 2 or 4.
double winograd_error_factor(std::int64_t tile);

}  // namespace ferry::ops
