// Convolution over images whose channels stand in blocks that are as long as a vector: NCHWc.
#pragma once

#include "host/ops/convolution.h"

#include <string>

namespace ferry::ops {

// [N, C, H, W] as [N, C / block rounded up, H, W, block]; channels that do not exist are 0.
Tensor pack_nchwc(const Tensor& x, std::int64_t block, std::string name);
// The first `channels` channels of [N, C', H, W, block] as [N, channels, H, W].
Tensor unpack_nchwc(const Tensor& x, Expr channels, std::string name);
// [O, C, KH, KW] as [O / outputs, C / inputs, KH, KW, inputs, outputs], rounded up and filled with 0.
Tensor pack_filters(const Tensor& kernel, std::int64_t inputs, std::int64_t outputs, std::string name);

// X [N, C', H, W, c] and K [O', C', KH, KW, c, o] give [N, O', OH, OW, o]. One group.
Tensor conv2d_nchwc(const Tensor& x, const Tensor& kernel, const Convolution& shape, std::string name);

}  // namespace ferry::ops
