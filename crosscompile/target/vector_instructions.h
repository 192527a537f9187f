// Abilities of a target's vector instructions that single passes and code generators ask for, beside its Capabilities.
#pragma once

#include "ferry/target/target.h"

namespace ferry {

// Whether vectors of floats are converted to integers faster if they are clamped first: LLVM converts each lane on its
// own where no instruction for vectors saturates, or where it does not know of it.
bool clamps_before_conversion(const Target& target);

}  // namespace ferry
