// The rules for stages, in order of priority: the first one that matches a stage schedules it, and a stage that none
// matches keeps its loops.
#pragma once

#include "host/autoschedule/rule.h"

#include <span>

namespace ferry::autoschedule {

std::span<const Rule> cpu_rules();
std::span<const Rule> gpu_rules();

}  // namespace ferry::autoschedule
