// Networks and their groups as text for people to read:
//
//     network net(%0 f32[N,3,8,8] x)
//       %2 f32[N,4,8,8] = conv(%0, %1 f32[4,3,3,3] conv.weight) kernel=3x3 padding=1+1,1+1  /conv
//       return %2 y
#pragma once

#include "host/graph/group.h"

#include <string>
#include <vector>

namespace ferry::graph {

std::string to_text(const Graph& graph);
// The same with the nodes of each group below its name.
std::string groups_text(const Graph& graph, const std::vector<Group>& groups);

}  // namespace ferry::graph
