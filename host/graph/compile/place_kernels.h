// The kernels of a network on the target's device, and on the CPU beside it if the target names one: what the device
// would compute slowly or not at all. Kernels that a loop calls stay on the device, since every iteration would copy
// what crosses between the two.
#pragma once

#include "host/graph/compile/network_kernels.h"

#include <cstdint>
#include <map>
#include <string>

namespace ferry::graph {

// `sizes` as of kernels_of(). Where the backend supports none of the kernels that may move, all stay: then it lacks
// something else, such as a GPU that it knows, and compilation says what. Throws CompileError, which names the nodes.
PlacedKernels place_kernels(const Graph& graph, const Target& target, const std::map<std::string, std::int64_t>& sizes);

}  // namespace ferry::graph
