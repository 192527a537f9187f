// Measures pairs until it is certain whether one side is slower.
#pragma once

#include <cstdint>
#include <vector>

#include "host/gate/run/measure_pair.h"
#include "host/gate/verdict/decide.h"

namespace ferry::gate {

// Returns the numbers of all layouts in random order. Each process has another one, until all have been used.
std::vector<std::uint32_t> shuffled_layouts(stats::Random& random);

// Fills in the verdict and everything that is measured. Throws SideFailed if a kernel fails, and Error for what the
// board refuses, if it is lost, or if its environment changes between two processes.
void compare_sides(const OpenSession& open, const MeasuredCase& measured, const PerSide<MeasuredSide>& sides,
                   const DecisionRule& rule, stats::Random& random, const Observer& observer, CaseResult& result);

}  // namespace ferry::gate
