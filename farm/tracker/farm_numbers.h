// Counts what a tracker schedules, for monitoring.
#pragma once

#include "farm/api/farm.h"
#include "farm/tracker/active_scheduler.h"

namespace ferry::farm {

// Fills in what the scheduler knows of boards, leases, requests and commits.
void count_scheduled(const ActiveScheduler& scheduler, FarmNumbers& numbers);

}  // namespace ferry::farm
