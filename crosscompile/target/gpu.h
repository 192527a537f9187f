// Targets that are GPUs. Used by target/ alone.
#pragma once

#include "crosscompile/target/options.h"
#include "crosscompile/target/target.h"

#include <string>
#include <vector>

namespace ferry {

// `name`: "cuda" or "opencl", and which of several devices, "cuda:1". Options: -arch=sm_80,sm_90 (of cuda; sm_80 if
// not said), -compiler=nvrtc or llvm (of cuda; both if not said), -max_threads_per_block, -max_shared_memory_per_block
// (bytes). Without the last two it is what the GPUs named have, the smallest of each, and for OpenCL what the device
// says when it loads the module.
Target gpu_from_options(const std::string& name, const std::vector<Option>& options, std::vector<std::string>* notes);

}  // namespace ferry
