// Compiles a network, runs it on a device, and compares the results with the reference evaluator.
#pragma once

#include <string>
#include <vector>

#include "ferry/client.h"
#include "ferry/target/target.h"
#include "host/graph/reference/definition.h"

namespace ferry::test {

// Returns what is wrong with the results on random inputs, of which no element may be further from its definition than
// 1e-4 of the tensor's largest, and of bytes a fiftieth by one; empty if nothing is. The network is compiled once,
// for calls that are expected to have some sizes, and called with each set of sizes.
std::string wrong_results(const Device& device, const Target& target, const graph::Graph& network,
                          const std::vector<graph::NetworkSizes>& all_sizes, const graph::NetworkSizes& expected = {});

}  // namespace ferry::test
