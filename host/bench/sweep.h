// Ranges over which a measurement is repeated: of sizes, and of the knobs of a schedule.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/kernel/kernel.h"

namespace ferry::bench {

struct Sweep {
  std::string name;                 // of a size or a knob
  std::vector<std::string> values;  // as text; none: every choice of the knob
};

// Parses ranges: "N=2^8..2^24" and "N=100..6400" double, "N=100..500+100" adds, "N=1,7,64" and "layout=row,column"
// list; "rows" stands for every choice of a knob. Throws OptionError that shows what was expected.
Sweep parse_sweep(const std::string& text);

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
