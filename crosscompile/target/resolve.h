// Targets as people write them, and as devices report themselves.
#pragma once

#include "crosscompile/target/target.h"
#include "rpc/abi/device_facts.h"

#include <string>
#include <string_view>
#include <vector>

namespace ferry {

// Accepts "llvm -target=x86_64-pc-linux-gnu", "llvm -mtriple=armv7l-none-linux-gnueabihf -mcpu=cortex-a72
// -mattr=+neon,-crc",
// "-device=arm_cpu" and such keys are accepted and ignored with a reason in `notes`; short names ("host",
// "raspberry-pi-4"); "c"; "opencl", "cuda -arch=sm_80,sm_90". Throws CompileError with the nearest known names.
Target resolve_target(std::string_view text, std::vector<std::string>* notes = nullptr);

// The target "c" with the other's hints for schedules: what --emit c prints for any target.
Target c_target_like(const Target& target);

// What the device says it is: features exactly as reported, the CPU from its identification where LLVM knows it.
Target target_of(const DeviceFacts& facts);

struct NamedTarget {
  std::string name;
  std::string stands_for;  // what resolve_target gets
  std::string note;
};
const std::vector<NamedTarget>& named_targets();

}  // namespace ferry
