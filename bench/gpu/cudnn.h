// A convolution by cuDNN (NVIDIA, "cuDNN API Reference"), loaded while the program runs.
#pragma once

#include "bench/gpu/gpu.h"

namespace ferry::bench {

struct ConvolutionShape {
  int batch, channels, height, width, filters, size, padding;
};

// Seconds of the fastest of its algorithms, float32 without TF32; Missing when the library is not there.
double cudnn_convolution(Gpu& gpu, const ConvolutionShape& shape);

}  // namespace ferry::bench
