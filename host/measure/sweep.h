// The points of sweeps, and what they change in a kernel and its call.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ferry/bench/sweep.h"
#include "host/kernel/kernel.h"

namespace ferry::bench {

// One value for each sweep.
using SweepPoint = std::vector<std::pair<std::string, std::string>>;

// Returns all combinations, the last sweep's values next to each other; one empty point if there are no sweeps. Throws
// OptionError for a name that is given twice, for too many points, for a size that is no number, and for a sweep
// without values that is no knob of the kernel's schedule.
std::vector<SweepPoint> points_of(std::span<const Sweep> sweeps, const KernelSource& kernel);

// Throws OptionError for a sweep over what is neither a size of the function nor a knob of its schedule, and for one
// over a size that is among `sizes` ("M=512,N=512") too.
void expect_sweepable(std::span<const Sweep> sweeps, const KernelSource& kernel, const std::string& function,
                      const std::vector<std::string>& sizes);

// Sets the values of a point: of knobs in the kernel's schedule, of everything else among the sizes.
void apply(const SweepPoint& point, KernelSource& kernel, std::vector<std::string>& sizes);

}  // namespace ferry::bench
