// Rebuilds the state from what is persisted.
#pragma once

#include "host/farm/lease/state.h"

namespace ferry::farm {

// Every lease in the snapshot must have its request and its boards there too.
void restore(State& state, const Snapshot& snapshot, Time now);

}  // namespace ferry::farm
