// Imports the nodes of a model's graph, and those of the functions, loops and branches inside of it, which become nodes
// of the same graph.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/graph/onnx/node_import.h"

namespace ferry::graph::onnx {

class GraphImport : public BodyImporter {
 public:
  GraphImport(const Model& model, GraphBuilder& builder) : model_(model), builder_(builder) {}

  // Imports the nodes of the model itself. What depends on a refused node is left out.
  void run(Scope& scope);
  std::vector<Value> import_body(const ModelGraph& body, const std::vector<Value>& inputs,
                                 const Scope& around) override;

  // Returns a sentence for each refused node, and for each operator that ferry does not import.
  std::vector<std::string> refusals() const;

 private:
  // The nodes of one operator that ferry does not import.
  struct Missing {
    const ModelNode* first = nullptr;
    std::int64_t opset = 0;
    std::size_t nodes = 0;
  };
  // The function whose nodes are imported: its opsets, and the attributes of the node that calls it.
  struct Call {
    const Opsets* opsets = nullptr;
    const std::map<std::string, AttributeValue>* attributes = nullptr;
  };

  void import_nodes(const std::vector<const ModelNode*>& nodes, const std::vector<std::string>& outputs, Scope& scope);
  void import_node(const ModelNode& node, const std::set<std::string>& read, Scope& scope);
  void import_call(const ModelNode& node, const ModelFunction& function, NodeImport& import);
  bool is_reachable(const ModelNode& node, const NodeImport& import, const Scope& scope) const;
  ModelNode with_attributes_of_call(ModelNode node) const;
  std::int64_t opset_of(const ModelNode& node) const;
  void count_unrolled(std::size_t nodes);

  const Model& model_;
  GraphBuilder& builder_;
  Call call_;
  std::size_t depth_ = 0;     // of functions and bodies
  std::size_t unrolled_ = 0;  // number of nodes of functions and bodies
  std::vector<std::string> refusals_;
  std::map<std::string, Missing> missing_;
};

}  // namespace ferry::graph::onnx
