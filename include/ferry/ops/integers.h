// Convolutions of 8-bit integers with sums in int32, on images whose channels are stored in blocks (blocked.h), and
// products with matrices that are packed for them.
#pragma once

#include "ferry/integer_products.h"
#include "ferry/ops/convolution.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::ops {

// Convolves X - zero_point with weights [O, C, KH, KW] of int8: X [N, ceil(C / c), H, W, c] of uint8 or int8, with a
// zero point that its type holds, which padding has too. The result is an int32 [N, ceil(O / c), OH, OW, c], exact
// where it fits. If weights and zero point are constant, the stages NAME.weights and NAME.offsets, the zero point's
// share of the sums, are computed once, before the calls. NAME.products holds the sums of products; with factors of
// int16, which may also be those of the weights, NAME itself does. A padded input is the stage NAME.pad. Lanes of X
// past C may have any value. Groups must divide c.
Tensor integer_conv2d_blocked(const Tensor& x, const Tensor& weights, const Expr& zero_point,
                              const std::vector<Window>& windows, const IntegerProducts& products, std::string name);
// The same for an X [N, C, H, W] of few channels that are not in blocks. The result has blocks of `lanes`. The stage
// NAME.pixels holds X in blocks of few channels.
Tensor integer_conv2d_to_blocked(const Tensor& x, const Tensor& weights, const Expr& zero_point,
                                 const std::vector<Window>& windows, std::int64_t lanes,
                                 const IntegerProducts& products, std::string name);
// The same for a filter for each channel, of weights [C, 1, KH, KW], from X [N, ceil(C / c), H, W, c] to
// [N, ceil(C / c), OH, OW, c]. With a group of 2, which needs factors of int8 and weights above -128, two products of
// neighbours in the window are added up in int16 before they are added to the sum; other groups are ignored.
Tensor integer_depthwise_conv2d_blocked(const Tensor& x, const Tensor& weights, const Expr& zero_point,
                                        const std::vector<Window>& windows, const IntegerProducts& products,
                                        std::string name);

// Multiplies A - zero_point, [..., M, K] of uint8 or int8, by a matrix of int8, [K, N] or, transposed, [N, K], to
// [..., M, N] of int32. The sums of NAME.products are computed in vectors of `lanes` with the weights in the order in
// which they are read, NAME.weights. These and NAME.offsets are computed once if weights and zero point are constant,
// and factors of int16 may be those of the weights, as for convolutions. Rows that are no multiple of a group, of
// the two that are added up at once, or of the step of the products are padded, NAME.pad.
Tensor integer_matmul(const Tensor& a, const Tensor& weights, const Expr& zero_point, bool is_transposed,
                      std::int64_t lanes, const IntegerProducts& products, std::string name);

}  // namespace ferry::ops
