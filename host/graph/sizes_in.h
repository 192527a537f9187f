// The sizes among the attributes of a node.
#pragma once

#include "host/graph/attributes.h"

#include <vector>

namespace ferry::graph {

// Returns each, in the order of the members; they may be replaced.
std::vector<Size*> sizes_in(Attributes& attributes);

}  // namespace ferry::graph
