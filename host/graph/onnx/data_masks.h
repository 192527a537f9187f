// Operators over dimensions whose size depends on data (GraphBuilder::add_data_size). In the finished graph these have
// the size of their bound, so elements beyond the count are computed too. They must not change the others, nor be
// indices that are out of bounds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/graph/onnx/node_import.h"

namespace ferry::graph::onnx {

// Adds other nodes in place of one that would mix elements beyond the count with others: what it reads there is
// replaced by values that change nothing, such as 0 for a sum. Returns nothing if the node may be added as it is.
// Throws CompileError for what has no such nodes.
std::optional<Value> add_masked(GraphBuilder& builder, const std::string& name, Operator op,
                                const std::vector<Value>& inputs, const Attributes& attributes);

}  // namespace ferry::graph::onnx
