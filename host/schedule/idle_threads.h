// Finds copies into shared memory that one thread makes while the others of its block wait.
#pragma once

#include <string>
#include <vector>

#include "ferry/schedule/schedule.h"

namespace ferry::schedule {

// Returns a sentence for each stage in shared memory none of whose loops is bound to threads, though the block has
// several.
std::vector<std::string> notes_on_idle_threads(const Schedule& schedule);

}  // namespace ferry::schedule
