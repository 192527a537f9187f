// The order in which the nodes of a model are imported.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "host/graph/onnx/model.h"

namespace ferry::graph::onnx {

// Returns the nodes in an order in which every tensor is computed before it is read, as near as possible to the file's.
// Throws UsageError, which names a node, for a cycle, a tensor that nothing provides, and one that two nodes compute.
std::vector<const ModelNode*> nodes_in_order(const ModelGraph& graph);
// The same for the nodes of a function, to which these tensors are given.
std::vector<const ModelNode*> nodes_in_order(const std::vector<ModelNode>& nodes, const std::set<std::string>& given);

}  // namespace ferry::graph::onnx
