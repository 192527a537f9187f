#include "host/graph/onnx/import.h"

#include <algorithm>
#include <set>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "crosscompile/ir/error.h"
#include "host/graph/onnx/input_values.h"
#include "host/graph/onnx/node_import.h"
#include "host/graph/onnx/node_order.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/prune.h"

namespace ferry::graph::onnx {
namespace {

class ModelImport {
 public:
  ModelImport(const Model& model, const ImportOptions& options) : model_(model), options_(options) {}

  Imported run() {
    builder_.graph.name = model_.name;
    const std::vector<const ModelNode*> nodes = nodes_in_order(model_);
    count_operators();
    note_reads();
    values_ = input_values(model_, options_, builder_);
    for (const auto& [name, constant] : model_.initializers) add_initializer(name, constant);
    for (const ModelNode* node : nodes) import_node(*node);
    for (const auto& [key, group] : missing_) imported_.refusals.push_back(refusal_of(group));
    if (imported_.refusals.empty()) {
      add_outputs();
      imported_.graph = prune(builder_.graph);
    } else {
      imported_.graph = std::move(builder_.graph);
    }
    return std::move(imported_);
  }

 private:
  // The nodes of one operator that ferry does not import.
  struct Missing {
    const ModelNode* first = nullptr;
    std::size_t nodes = 0;
  };

  std::int64_t opset_of(const ModelNode& node) const {
    const auto found = model_.opsets.find(node.domain);
    if (found == model_.opsets.end()) {
      throw UsageError("node '" + printable(node.name) + "' (" + printable(node.op) +
                       "): expected the model to name an opset of the domain '" +
                       (node.domain.empty() ? "ai.onnx" : printable(node.domain)) + "', got none");
    }
    return found->second;
  }

  static std::string qualified(const ModelNode& node) {
    return printable(node.domain.empty() ? node.op : node.domain + "." + node.op);
  }

  void count_operators() {
    std::map<std::string, OperatorCount> counts;
    for (const ModelNode& node : model_.nodes) {
      OperatorCount& count = counts[qualified(node)];
      count.op = qualified(node);
      count.is_imported = find_importer(node.domain, node.op, opset_of(node)) != nullptr;
      ++count.nodes;
    }
    for (auto& [name, count] : counts) imported_.operators.push_back(std::move(count));
  }

  void note_reads() {
    for (const ModelNode& node : model_.nodes) read_.insert(node.inputs.begin(), node.inputs.end());
    for (const ValueInfo& output : model_.outputs) read_.insert(output.name);
    read_.erase("");
  }

  void add_initializer(const std::string& name, const Constant& constant) {
    if (!constant.unsupported_type.empty()) {
      unsupported_[name] = constant.unsupported_type;
      return;
    }
    values_[name] = constant_value(name, constant);
    if (!is_float(constant.dtype)) return;
    imported_.parameters += constant.data->bytes.size() / dtype_bytes(constant.dtype);
  }

  // Returns whether all inputs are there; a node that reads what a refused node computes is left out.
  bool is_reachable(const ModelNode& node, const NodeImport& import) const {
    for (const std::string& input : node.inputs) {
      const auto unsupported = unsupported_.find(input);
      if (unsupported != unsupported_.end()) {
        import.refuse("a tensor '" + printable(input) + "' of a type that ferry has", unsupported->second);
      }
      if (!input.empty() && !values_.contains(input)) return false;
    }
    return true;
  }

  void import_node(const ModelNode& node) {
    const std::int64_t opset = opset_of(node);
    const Importer importer = find_importer(node.domain, node.op, opset);
    if (importer == nullptr) {
      Missing& group = missing_[qualified(node)];
      if (group.nodes++ == 0) group.first = &node;
      return;
    }
    NodeImport import(node, opset, builder_, values_);
    try {
      if (!is_reachable(node, import)) return;
      importer(import);
      import.expect_no_other_attributes();
      for (const std::string& output : node.outputs) {
        if (read_.contains(output) && !values_.contains(output)) {
          import.refuse("only outputs that ferry computes", "'" + printable(output) + "'");
        }
      }
    } catch (const NodeRefusal& refusal) {
      drop_outputs(node, refusal.what());
    } catch (const CompileError& error) {
      try {
        import.refuse(error.what());
      } catch (const NodeRefusal& refusal) {
        drop_outputs(node, refusal.what());
      }
    }
  }

  void drop_outputs(const ModelNode& node, const std::string& why) {
    imported_.refusals.push_back(why);
    for (const std::string& output : node.outputs) values_.erase(output);
  }

  std::string refusal_of(const Missing& group) const {
    const std::int64_t opset = opset_of(*group.first);
    std::string nodes = "node '" + printable(group.first->name) + "'";
    if (group.nodes > 1) nodes += " and " + std::to_string(group.nodes - 1) + " more";
    const std::string others = supported_opsets(group.first->domain, group.first->op);
    return nodes + " (" + qualified(*group.first) + ", opset " + std::to_string(opset) + "): ferry " +
           (others.empty() ? "does not import this operator" : "imports this operator of " + others + " only");
  }

  void add_outputs() {
    for (const ValueInfo& output : model_.outputs) {
      const std::string what = "output '" + printable(output.name) + "'";
      const auto value = values_.find(output.name);
      if (value == values_.end()) throw UsageError(what + ": expected a tensor that the model computes, got none");
      if (output.dtype && *output.dtype != value->second.type.dtype) {
        throw UsageError(what + ": expected " + dtype_name(value->second.type.dtype) +
                         ", which the model computes, got " + output.type_name + " as its declaration");
      }
      try {
        builder_.graph.outputs.push_back(builder_.tensor_of(value->second));
      } catch (const CompileError& error) {
        throw UsageError(what + ": " + error.what());
      }
      builder_.graph.output_names.push_back(output.name);
    }
  }

  const Model& model_;
  const ImportOptions& options_;
  Imported imported_;
  GraphBuilder builder_;
  std::map<std::string, Value> values_;
  std::map<std::string, std::string> unsupported_;  // initializers, with their types
  std::map<std::string, Missing> missing_;
  std::set<std::string> read_;  // by a node, or by the model's caller
};

}  // namespace

Imported import_model(const Model& model, const ImportOptions& options) { return ModelImport(model, options).run(); }

Graph import_graph(const Model& model, const ImportOptions& options) {
  Imported imported = import_model(model, options);
  if (!imported.refusals.empty()) throw CompileError(join("\n", imported.refusals));
  return std::move(imported.graph);
}

}  // namespace ferry::graph::onnx
