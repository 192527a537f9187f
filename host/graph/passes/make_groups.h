// Divides a network into groups of nodes that become one kernel each, so that what lies between the nodes of a group
// stays in registers:
//
//     t = conv(x, w); u = add(t, shortcut); y = relu(u)   ->   {conv, add, relu}
//
// The first node of a group may be any; the elementwise nodes that read it follow as long as their results have its
// shape. A tensor that is read outside of a group, or is an output of the network, ends the group.
#pragma once

#include "host/graph/group.h"

#include <vector>

namespace ferry::graph {

// Returns the groups in an order in which every tensor is written before it is read. Each node that has a kernel
// is in one group. Further outputs of the network that end a group change nothing.
std::vector<Group> make_groups(const Graph& graph);

}  // namespace ferry::graph
