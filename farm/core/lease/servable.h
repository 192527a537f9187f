// Whether the boards of a farm could serve a request at all, however long it waits.
#pragma once

#include <optional>
#include <string>

#include "farm/core/lease/state.h"

namespace ferry::farm {

// Returns the reason if not even all boards of the pool together could.
std::optional<std::string> why_unservable(const State& state, const Entry& entry);

// Ends the waiting requests that cannot be served any more now that a board has left the pool or has changed.
void end_unservable(State& state, const Board& board, Time now);

}  // namespace ferry::farm
