// Which module of a case is its baseline when several runs store one.
#pragma once

#include <cstdint>

#include "host/gate/store/store.h"

namespace ferry::gate {

// Adds changes to a baseline. Of two modules of a case, the one that was stored later stays: a run of an older commit
// that began earlier and ends later does not replace the newer commit's. Modules stored in the same second replace each
// other, and one from the future, which only a wrong clock can write, is replaced. `now` is in seconds since 1970.
// Returns the changes that the baseline now has.
Baseline merge_baseline(Baseline& baseline, const Baseline& changes, std::int64_t now);

}  // namespace ferry::gate
