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
  // What an attempt adds stays counted, so that attempts inside of attempts are bounded too.
  bool attempt(const std::function<bool()>& action) override;

  // Returns a sentence for each refused node, and for each operator that ferry does not import.
  std::vector<std::string> refusals() const;

 private:
  // The nodes of one operator that ferry does not import.
  struct Missing {
    const ModelNode* first = nullptr;
    std::int64_t opset = 0;
    std::set<const ModelNode*> nodes = {};
  };
  // The function whose nodes are imported: its opsets, and the attributes of the node that calls it.
  struct Call {
    const Opsets* opsets = nullptr;
    const AttributeRefs* attributes = nullptr;
  };

  // A body or function, prepared once for all of its iterations or calls.
  struct Body {
    std::vector<const ModelNode*> nodes;  // in the order of their import
    std::set<std::string> read;           // by its nodes or as its outputs
    Ranks ranks;
    Scope initializers;
    std::size_t names = 0;  // number of its inputs, outputs, initializers and attributes, and of those of its nodes
  };

  // Return what was prepared before of the same body or function.
  const Body& prepared(const ModelGraph& graph);
  const Body& prepared(const ModelFunction& function);
  void import_nodes(const Body& body, Scope& scope);
  void import_node(const ModelNode& node, const Body& body, Scope& scope);
  void import_call(const ModelNode& node, const AttributeRefs& attributes, const ModelFunction& function,
                   NodeImport& import);
  bool is_reachable(const ModelNode& node, const NodeImport& import, const Scope& scope) const;
  // Returns the node's attributes, with those of the call in the place of references.
  AttributeRefs attributes_of(const ModelNode& node) const;
  std::int64_t opset_of(const ModelNode& node) const;
  void count_unrolled(const Body& body);

  const Model& model_;
  GraphBuilder& builder_;
  Call call_;
  std::size_t depth_ = 0;           // how deep functions and bodies are nested
  std::size_t unrolled_ = 0;        // number of nodes of functions and bodies
  std::size_t unrolled_names_ = 0;  // how many of their tensors and attributes were named
  std::map<const void*, Body> prepared_;
  std::set<const ModelNode*> refused_;
  std::vector<std::string> refusals_;
  std::map<std::string, Missing> missing_;
};

}  // namespace ferry::graph::onnx
