// Targets for what an emulator cannot run.
#pragma once

#include "ferry/compile.h"

#include <algorithm>

namespace ferry::test {

// Returns the target of a device for code that truncates floats or converts them to integers. At vectors of these, qemu
// 7 fails an assertion of its own (decode_save_opc) where the device has RISC-V's vectors. No other architecture has a
// feature of that name.
inline Target target_for_truncation(const Device& device) {
  const DeviceFacts& facts = device.facts();
  const bool has_vectors = std::find(facts.features.begin(), facts.features.end(), "v") != facts.features.end();
  return has_vectors ? target(facts.arch) : target_of(device);
}

}  // namespace ferry::test
