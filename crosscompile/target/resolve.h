// Targets as people write them, and as devices report themselves.
#pragma once

#include "ferry/device_facts.h"
#include "ferry/target/target.h"

#include <string>
#include <string_view>
#include <vector>

namespace ferry {

// Accepts "llvm -target=x86_64-pc-linux-gnu", "llvm -mtriple=armv7l-none-linux-gnueabihf -mcpu=cortex-a72
// -mattr=+neon,-crc"; short names ("host", "raspberry-pi-4"); "c"; "opencl", "cuda -arch=sm_80,sm_90".
// A GPU's options may end with the CPU beside it, which runs what the GPU cannot: "opencl -host=raspberry-pi-4", or
// "opencl -host=none" to have nothing run there.
// "-device=arm_cpu" and similar keys are accepted and ignored, with a reason in `notes`. Throws CompileError with the
// nearest known names.
Target resolve_target(std::string_view text, std::vector<std::string>* notes = nullptr);

// Returns the target "c" with the schedule hints of the other target; --emit c prints code for it, whatever the target.
Target c_target_like(const Target& target);

// Returns the target that a device reports: exactly the reported features, and the CPU from its identification where
// LLVM knows it.
Target target_of(const DeviceFacts& facts);

struct NamedTarget {
  std::string name;
  std::string stands_for;  // the text that resolve_target() gets
  std::string note;
};
const std::vector<NamedTarget>& named_targets();

}  // namespace ferry
