// Operators on images whose channels are stored in blocks of a vector's length, so that one vector holds the channels
// of a pixel: NCHWc. Element (n, b, h, w, l) of such a tensor [N, ceil(C / c), H, W, c] belongs to channel b * c + l.
// Lanes past C, which the last block has if c does not divide C, are unspecified: they may be NaN, and no operator lets
// them influence a channel below C. There is no border in memory; operators pad what they read.
#pragma once

#include "ferry/ops/convolution.h"
#include "ferry/ops/pooling.h"

#include <string>
#include <vector>

namespace ferry::ops {

// Converts [N, C, H, W] to [N, ceil(C / lanes), H, W, lanes].
Tensor to_blocked(const Tensor& x, std::int64_t lanes, std::string name);
// Converts the first `channels` channels of [N, C', H, W, c] to [N, channels, H, W].
Tensor from_blocked(const Tensor& x, Expr channels, std::string name);

// Convolves X [N, C', H, W, c] with weights [O, C / groups, KH, KW] to [N, ceil(O / c), OH, OW, c], with one window for
// the height and one for the width. The stage NAME.weights holds the weights in the order in which they are read; if
// the weights are constant, that is done once, before the calls. A padded input is the stage NAME.pad. Fast if each
// group has a multiple of c outputs; otherwise lanes of one vector read different channels.
Tensor conv2d_blocked(const Tensor& x, const Tensor& weights, const std::vector<Window>& windows, std::string name,
                      std::int64_t groups = 1);
// The same for an X [N, C, H, W] of few channels that are not in blocks, and one group. The result has blocks of
// `lanes`.
Tensor conv2d_to_blocked(const Tensor& x, const Tensor& weights, const std::vector<Window>& windows, std::int64_t lanes,
                         std::string name);
// Convolves each channel of X [N, C', H, W, c] with its own filter, of weights [C, 1, KH, KW], to [N, C', OH, OW, c].
// For several filters for each channel, use conv2d_blocked with C groups.
Tensor depthwise_conv2d_blocked(const Tensor& x, const Tensor& weights, const std::vector<Window>& windows,
                                std::string name);

// Pools X [N, C', H, W, c], with one window for the height and one for the width; stages are those of max_pool() and
// average_pool(). Windows as large as the image pool globally, to [N, C', 1, 1, c].
Tensor max_pool2d_blocked(const Tensor& x, const NdPooling& shape, std::string name);
Tensor average_pool2d_blocked(const Tensor& x, const NdPooling& shape, std::string name);

}  // namespace ferry::ops
