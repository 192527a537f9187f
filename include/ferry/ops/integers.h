// Convolutions of 8-bit integers with sums in int32, on images whose channels are stored in blocks (blocked.h).
#pragma once

#include "ferry/ops/convolution.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::ops {

// Convolves X - zero_point with weights [O, C, KH, KW] of int8: X [N, ceil(C / c), H, W, c] of uint8 or int8, with a
// zero point that its type holds, which padding has too. The result is an int32 [N, ceil(O / c), OH, OW, c], exact
// where it fits. X is multiplied as it is, and the zero point's share of the sums is the stage NAME.offsets; if weights
// and zero point are constant, that and the stage NAME.weights are computed once, before the calls. NAME.products holds
// the sums of products, and a padded input is the stage NAME.pad. Lanes of X past C may have any value.
//
// Each sum takes its products in groups of `group` channels that are contiguous in memory: 4 where the target
// multiplies groups of four bytes (`tensorize` in docs/schedules.md), for these types best uint8 on x86; otherwise 1.
// It must divide c.
Tensor integer_conv2d_blocked(const Tensor& x, const Tensor& weights, const Expr& zero_point,
                              const std::vector<Window>& windows, std::int64_t group, std::string name);
// The same for an X [N, C, H, W] of few channels that are not in blocks. The result has blocks of `lanes`. The stage
// NAME.pixels holds X in blocks of `group` channels.
Tensor integer_conv2d_to_blocked(const Tensor& x, const Tensor& weights, const Expr& zero_point,
                                 const std::vector<Window>& windows, std::int64_t lanes, std::int64_t group,
                                 std::string name);

}  // namespace ferry::ops
