// Kernels of a network for a GPU that run on the CPU beside it. Those that a loop calls stay on the GPU, since every
// iteration would copy what crosses between the two.
#pragma once

#include "host/graph/compile/network_kernels.h"

#include <string>
#include <vector>

namespace ferry::graph {

// Returns for each kernel why a CPU computes it in less time than a GPU, to which its data go first; empty if it does
// not.
std::vector<std::string> slow_on_gpu(const Graph& graph, const NetworkKernels& kernels);

// Says for each kernel why it runs on the CPU if the compiler refuses some for the target's GPU. Returns false, and
// changes nothing, if it refuses none that may move, or every kernel: then it lacks something else, such as NVIDIA's
// compilers.
bool add_refused(const Graph& graph, const NetworkKernels& kernels, const Target& target,
                 std::vector<std::string>& why_on_host);

}  // namespace ferry::graph
