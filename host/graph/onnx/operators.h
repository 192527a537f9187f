// The table of ONNX operators that ferry imports.
#pragma once

#include <string>

#include "host/graph/onnx/node_import.h"

namespace ferry::graph::onnx {

// Imports a node: reads its attributes and inputs, adds graph nodes, sets its outputs. Refuses what it cannot.
using Importer = void (*)(NodeImport& node);

// Returns null where ferry does not import the operator in this opset.
Importer find_importer(const std::string& domain, const std::string& op, std::int64_t opset);
// Returns "opset 7 to 28" for an operator that ferry imports in some; empty for any other.
std::string supported_opsets(const std::string& domain, const std::string& op);

// Each is defined in the file of its family (operators/).
#define FERRY_ONNX_OPERATOR(op, importer, first, last) void importer(NodeImport& node);
#include "host/graph/onnx/operators.def"
#undef FERRY_ONNX_OPERATOR
#define FERRY_CONTRIB_OPERATOR(op, importer) void importer(NodeImport& node);
#include "host/graph/onnx/contrib_operators.def"
#undef FERRY_CONTRIB_OPERATOR
#define FERRY_ML_OPERATOR(op, importer, first, last) void importer(NodeImport& node);
#include "host/graph/onnx/ml_operators.def"
#undef FERRY_ML_OPERATOR

// Sets the second and third output of LayerNormalization, if they are read.
void output_moments(NodeImport& node, std::size_t axis, double epsilon);

}  // namespace ferry::graph::onnx
