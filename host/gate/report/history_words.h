// How histories are said to people.
#pragma once

#include <string>

#include "host/gate/history/history.h"

namespace ferry::gate {

// Returns the commit, at most so many bytes of it; of an entry without one, "module " and the beginning of its hash.
std::string commit_of(const HistoryEntry& entry);
// "+3.10% (+2.40% to +3.90%)"; empty if no time was compared.
std::string change_text(const HistoryEntry& entry);
// "1.23 ms", or the number of instructions; empty if neither is known.
std::string measured_text(const HistoryEntry& entry);
// "from here +5.00%" where the level changes at this entry of the series; otherwise empty.
std::string level_text(const HistorySeries& series, std::size_t entry);

}  // namespace ferry::gate
