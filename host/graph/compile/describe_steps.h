// Describes the steps of a network's plan for people (module/step_description.h).
#pragma once

#include "host/graph/compile/network_kernels.h"
#include "host/graph/plan/composition.h"
#include "module/step_description.h"

#include <vector>

namespace ferry::graph {

// Returns a description for each step of compose(composition), whose calls are those of the kernels, in their order.
// The work is unknown for the steps of kernels with several, and where an expression would be too long.
std::vector<StepDescription> describe_steps(const Graph& graph, const NetworkKernels& kernels,
                                            const Composition& composition);

}  // namespace ferry::graph
