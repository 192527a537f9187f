// Networks as the interface of compilers sees them.
#pragma once

#include "host/compiler/api/compiler.h"
#include "host/compiler/llvm/module_cache.h"
#include "host/graph/graph.h"

#include <memory>

namespace ferry {

// Reads a network, whose modules are kept in the cache.
std::shared_ptr<const Network> read_network(const NetworkSource& source, const ModuleCache& cache);
// Returns a network whose modules are not kept. Of the source, which names no file, only the algorithms count that the
// network may use.
std::shared_ptr<const Network> make_network(graph::Graph graph, const NetworkSource& source = {});

}  // namespace ferry
