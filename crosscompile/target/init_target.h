// The target of init functions that run on this machine when a network is exported, whatever it is exported for.
#pragma once

#include "ferry/target/target.h"

namespace ferry {

// Returns the baseline of this machine's architecture, so that init functions compute the same bytes on every machine.
Target init_target();

}  // namespace ferry
