// Ranks that follow from those that a model declares.
#pragma once

#include "host/graph/onnx/model.h"

namespace ferry::graph::onnx {

// Gives tensors without a declared rank that of what elementwise nodes compute from them, as far as these keep it. Many
// exporters declare the outputs of the model alone.
void spread_declared_ranks(ModelGraph& graph);

}  // namespace ferry::graph::onnx
