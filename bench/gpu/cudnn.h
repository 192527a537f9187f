// A convolution by cuDNN (NVIDIA, "cuDNN API Reference"), loaded at run time.
#pragma once

#include "bench/gpu/gpu.h"

namespace ferry::bench {

struct ConvolutionShape {
  int batch, channels, height, width, filters, size, padding;
};

// Returns the seconds of its fastest algorithm, in float32 without TF32. Throws Missing if the library is not
// installed.
double cudnn_convolution(Gpu& gpu, const ConvolutionShape& shape);

}  // namespace ferry::bench
