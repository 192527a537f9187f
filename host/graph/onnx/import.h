// Imports ONNX models as graphs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/graph/onnx/model.h"

namespace ferry::graph::onnx {

struct ImportOptions {
  std::map<std::string, std::int64_t> sizes = {};  // symbols that have this value in every call
  std::map<std::string, Constant> bindings = {};   // inputs that have these contents in every call
  // Loops of at most so many iterations are unrolled. Longer ones are too where the graph cannot express them as a
  // loop.
  std::int64_t most_unrolled = 8;
  std::vector<std::string> outputs = {};  // tensors of the model's nodes that are outputs beside its own
};

struct OperatorCount {
  std::string op;  // with its domain unless that is ai.onnx
  std::size_t nodes = 0;
  bool is_imported = false;  // ferry imports the operator, in the model's opset
};

struct Imported {
  Graph graph;                           // complete if there are no refusals
  std::vector<OperatorCount> operators;  // the model's, by name
  std::vector<std::string> refusals;     // one sentence for each node that is refused
  std::uint64_t parameters = 0;          // elements of float initializers
};

// Imports what it can, so that all refusals are found at once; what depends on a refused node is left out. Throws
// UsageError for a model whose graph is not well formed, or whose inputs do not fit the options.
Imported import_model(const Model& model, const ImportOptions& options = {});
// Returns a sentence on the sizes and inputs that would help a network with refusals if they were the same in every
// call; empty where none is known to. The network is imported anew a few times to find out.
std::string advice_on_refusals(const Model& model, const ImportOptions& options, const Imported& imported);
// Throws CompileError with all refusals, a line each, if there are any.
Graph import_graph(const Model& model, const ImportOptions& options = {});

}  // namespace ferry::graph::onnx
