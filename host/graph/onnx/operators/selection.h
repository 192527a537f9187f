// Elements that data selects.
#pragma once

#include "host/graph/onnx/node_import.h"

namespace ferry::graph::onnx {

// Returns the places at which a vector of bool is true, in ascending order, as int64. Their number depends on data
// unless the vector is constant.
Value selected_places(const NodeImport& node, const Value& is_selected);

}  // namespace ferry::graph::onnx
