// The headers that CUDA C can include without a CUDA Toolkit. NVRTC knows by itself what device code calls.
#pragma once

#include <vector>

#include "crosscompile/codegen/cuda/nvrtc.h"

namespace ferry::foreign {

const std::vector<codegen::cuda::CudaHeader>& cuda_headers();

}  // namespace ferry::foreign
