// Decides whether a result bypasses the caches.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

// Matches results that exceed any cache, so that none keeps them for their next reader.
//
// Knobs: `nontemporal`.
std::optional<Match> match_nontemporal_stores(const StageContext& context);

}  // namespace ferry::autoschedule
