// Networks as the interface of compilers sees them.
#pragma once

#include "host/compiler/api/compiler.h"
#include "host/graph/graph.h"

#include <memory>

namespace ferry {

std::shared_ptr<const Network> make_network(graph::Graph graph);

}  // namespace ferry
