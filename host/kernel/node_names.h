// The names of a network's steps, for tables and sentences.
#pragma once

#include <string>

namespace ferry {

// A step is called after all of its nodes, "/conv1/Conv+Relu". Returns the name itself if it is short, and otherwise
// the first and the last node, "/conv1/Conv+...+Relu (9 nodes)", each cut in the middle if it is very long.
std::string short_node_name(const std::string& node);

}  // namespace ferry
