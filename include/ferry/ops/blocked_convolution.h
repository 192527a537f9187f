// Convolution over images whose channels are stored in blocks of a vector's length: NCHWc.
#pragma once

#include "ferry/ops/convolution.h"

#include <string>

namespace ferry::ops {

// Packs [N, C, H, W] as [N, ceil(C / block), H, W, block]; missing channels are 0.
Tensor pack_nchwc(const Tensor& x, std::int64_t block, std::string name);
// Unpacks the first `channels` channels of [N, C', H, W, block] to [N, channels, H, W].
Tensor unpack_nchwc(const Tensor& x, Expr channels, std::string name);
// Packs [O, C, KH, KW] as [ceil(O / outputs), ceil(C / inputs), KH, KW, inputs, outputs], padded with 0.
Tensor pack_filters(const Tensor& kernel, std::int64_t inputs, std::int64_t outputs, std::string name);

// Convolves X [N, C', H, W, c] with K [O', C', KH, KW, c, o] to [N, O', OH, OW, o]. There is one group.
Tensor conv2d_nchwc(const Tensor& x, const Tensor& kernel, const Convolution& shape, std::string name);

}  // namespace ferry::ops
