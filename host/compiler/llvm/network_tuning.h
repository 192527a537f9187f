// Finds for a network's compilation what tuning has recorded.
#pragma once

#include "host/compiler/api/compiler.h"
#include "host/graph/compile/tuned_algorithms.h"

#include <string>
#include <vector>

namespace ferry {

OtherAlgorithm other_of(const graph::AlgorithmProgram& other);

// These refer to `tuned`.
graph::FindTuned find_schedules(const TunedSchedules& tuned, const NetworkIdentity& network);
graph::FindAlgorithm find_algorithms(const TunedSchedules& tuned, const NetworkIdentity& network);
// Adds to `notes`, to which it refers, where the layouts come from.
graph::KnownLayouts find_layouts(const TunedSchedules& tuned, const NetworkIdentity& network, const Target& target,
                                 const SizesByName& sizes, const graph::Algorithms& allowed,
                                 std::vector<std::string>& notes);

// Knows of nothing, but writes down what there is to choose.
graph::KnownLayouts read_layouts(NetworkLayouts& into, const SizesByName& sizes, const graph::Algorithms& allowed);

// As of Network::least_cost_layouts().
std::string least_cost_layouts(const NetworkLayouts& layouts);

}  // namespace ferry
