// Kernels of every kind that a CPU runs, as users name them.
#pragma once

#include <string>
#include <vector>

#include "ferry/kernel/call_options.h"
#include "host/kernel/kernel.h"
#include "tests/unit/host/kernel/text_file.h"

namespace ferry::test {

struct SampleKernel {
  std::string name;
  KernelOptions kernel;
  CallOptions call;
};

// Writes their files into the folder.
std::vector<SampleKernel> sample_kernels(const Folder& folder, const Target& target);

}  // namespace ferry::test
