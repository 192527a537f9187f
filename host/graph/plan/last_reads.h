// Inputs of groups whose memory nothing needs afterwards, so that the group's result may replace them there.
#pragma once

#include "host/graph/group.h"
#include "host/graph/plan/network_function.h"

#include <span>
#include <vector>

namespace ferry::graph {

// Returns for each group those of its inputs that have memory in the arena of their own, which no other input of the
// group and no later step reads; none for groups whose result has its place elsewhere.
std::vector<std::vector<TensorId>> last_reads(const Graph& graph, std::span<const Group> groups,
                                              const TensorStorages& storages);

// Gives the result of a group the memory of one of these inputs.
void replace_in_memory(TensorStorages& storages, TensorId input, TensorId result);

}  // namespace ferry::graph
