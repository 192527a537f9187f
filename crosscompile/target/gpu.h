// GPU targets. Used by target/ alone.
#pragma once

#include "crosscompile/target/options.h"
#include "ferry/target/target.h"

#include <string>
#include <vector>

namespace ferry {

// `device` is a GPU. Options:
// -arch=sm_80,sm_90 (cuda only; default sm_80), -compiler=nvrtc or llvm (cuda only; default both),
// -max_threads_per_block, -max_shared_memory_per_block (bytes). The defaults of the last two are the smallest limits of
// the named GPUs; for OpenCL they are what the device reports when it loads the module.
Target gpu_from_options(const DeviceId& device, const std::vector<Option>& options, std::vector<std::string>* notes);

}  // namespace ferry
