// A group of nodes as the reference evaluator computes it.
#pragma once

#include "ferry/lang/program.h"
#include "host/graph/group.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ferry::graph {

// The sizes of a network's symbols in one call.
using NetworkSizes = std::map<std::string, std::int64_t>;

std::int64_t value_of(const Size& size, const NetworkSizes& sizes);

struct GroupDefinition {
  lang::Program program;
  std::vector<std::int64_t> symbols;  // the program's
  std::vector<std::int64_t> scalars;  // the values of its scalar parameters, in their order
  std::vector<TensorId> tensors;      // those of its tensor parameters, in their order; the output is the last
};

// The group has no reshapes. Convolutions are computed directly, whatever algorithm the group's kernel uses.
GroupDefinition definition_of(const Graph& graph, const Group& group, const NetworkSizes& sizes);
// The same with the algorithms of the group's kernel, which round differently; nothing if these are the definition.
std::optional<GroupDefinition> algorithm_of(const Graph& graph, const Group& group, const NetworkSizes& sizes);

// Computes the result of a node of constants, and takes what that costs, in loop iterations of the reference, from
// `work`. Returns nothing if it costs more.
std::optional<std::vector<std::byte>> evaluate_constant(const Graph& graph, std::size_t node, double& work);

// Computes all tensors of the network from the contents of its inputs, by id, node by node, with the algorithms of
// their kernels. A tensor that is reshaped from another has a copy of its contents; one inside of a loop has those of
// the last iteration.
std::vector<std::vector<std::byte>> evaluate(const Graph& graph, const NetworkSizes& sizes,
                                             const std::vector<std::vector<std::byte>>& inputs);

}  // namespace ferry::graph
