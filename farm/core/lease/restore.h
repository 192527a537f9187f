// Rebuilds the state from what is persisted.
#pragma once

#include "farm/core/lease/state.h"

namespace ferry::farm {

// Requires a snapshot that check_snapshot() accepts.
void restore(State& state, const Snapshot& snapshot, Time now);

}  // namespace ferry::farm
