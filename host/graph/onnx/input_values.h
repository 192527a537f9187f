// The inputs of a model as values: tensors with symbolic sizes, or constants that the caller bound.
#pragma once

#include <map>
#include <string>

#include "host/graph/onnx/import.h"
#include "host/graph/onnx/node_import.h"

namespace ferry::graph::onnx {

// Adds the model's inputs to the graph. A size that the model names is a symbol of that name, one that it leaves open
// is named after the input and the dimension; options may give either a number. The graph says which symbols are taken
// to be at least 0. Throws UsageError, which names the
// input, for a type that ferry has none for, a missing shape, and bindings that do not fit.
void input_values(const Model& model, const ImportOptions& options, GraphBuilder& builder, Scope& scope);

}  // namespace ferry::graph::onnx
