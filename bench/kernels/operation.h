// The operation of a case, as peers need to know it. Inputs are in the order of the kernel's parameters, dense and
// row-major; images are NCHW.
#pragma once

#include <cstdint>

namespace ferry::bench {

enum class OperationKind : std::uint8_t {
  gemm,             // (m,k) x (k,n) -> (m,n)
  convolution,      // 3x3, padding 1, stride 1: (1,channels,size,size), (filters,channels,3,3)
  depthwise,        // 3x3, padding 1, stride 1: (1,channels,size,size), (channels,3,3)
  softmax,          // m rows of length n
  layer_norm,       // m rows of length n; then gamma (n), beta (n)
  exponential,      // n elements
  tangent,          // hyperbolic tangent of n elements
  sigmoid,          // n elements
  add,              // two vectors of n elements
  broadcast_add,    // (m,1) + (m,n)
  batch_norm_relu,  // (1,channels,size,size); then mean, variance, gamma, beta (channels)
  max_pool,         // 2x2, stride 2: (1,channels,size,size)
};

enum class Numbers : std::uint8_t { f32, bf16, i8 };  // type of the inputs; results are f32, or i32 for i8

struct Operation {
  OperationKind kind = OperationKind::gemm;
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t channels = 1, filters = 1, size = 1;
  Numbers numbers = Numbers::f32;
  bool constant_weights = false;   // for gemm: a peer may rearrange the second input before the timing starts
  bool own_layout = false;         // a peer may keep all tensors in its preferred layout
  std::int64_t winograd_tile = 0;  // for convolution: by Winograd's algorithm, with ferry's tiles of 2 or 4
};

}  // namespace ferry::bench
