// One process of a comparison: measures both kernels in turns in a fresh session, under one layout of code and data.
#pragma once

#include "host/kernel/retry.h"
#include "host/measure/compare.h"
#include "host/stats/random.h"

namespace ferry::bench {

// Draws the layout from `random`, and fills in the facts.
ComparedProcess measure_process(const OpenSession& open, const KernelPair& kernels, const CompareOptions& options,
                                stats::Random& random, ComparedFacts& facts, const Observer& observer);

// Returns the target for both kernels: a module that is compiled already determines it only if the other is one too.
Target common_target(const Device& device, const KernelPair& kernels, const std::string& target,
                     const Observer& observer);

}  // namespace ferry::bench
