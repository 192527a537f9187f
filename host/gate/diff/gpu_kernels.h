// Splits the text of an image for GPUs into its kernels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "module/module_file.h"

namespace ferry::gate {

struct GpuKernel {
  std::string symbol;
  std::string text;  // with "kernel" in place of the symbol, and labels without the kernel's number in the image
};

struct GpuKernels {
  std::vector<GpuKernel> kernels;
  std::string beside;  // what the kernels have in common, without comments
};

// Whether the image is a text: OpenCL C or PTX.
bool is_text(const CodeImage& image);
std::string text_of(const CodeImage& image);

// Takes a text as ferry generates it: a kernel begins with a line of its own and ends with a line "}".
GpuKernels gpu_kernels_of(std::string_view text);

}  // namespace ferry::gate
