// Texts in models. ferry has no tensors of texts: where a model computes some, the tensor has the index of each in a
// list that is known when the model is imported (graph.h, Labels).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "host/graph/onnx/model.h"
#include "host/graph/onnx/scope.h"

namespace ferry::graph::onnx {

// Returns a list for each input of texts: what the model knows of the texts that it may have, and one more for any
// other text. Inputs that operators put together have one list.
std::map<std::string, std::shared_ptr<const Labels>> labels_of_inputs(const Model& model);

// Whether the importer of an operator takes initializers of texts.
bool reads_texts(const std::string& domain, const std::string& op);
// Whether an operator means the same for indices of texts as for the texts: it moves them, or its importer knows them.
bool takes_labels(const std::string& domain, const std::string& op);
// Gives the results of a node that moves texts the labels of its first input. Throws CompileError if others have other
// labels.
void keep_labels(const ModelNode& node, Scope& scope);

}  // namespace ferry::graph::onnx
