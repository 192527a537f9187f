#include "host/graph/onnx/graph_import.h"

#include <iterator>

#include "base/printable.h"
#include "host/graph/onnx/node_order.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// Bounds what a small file can ask for by loops and functions that call functions.
constexpr std::size_t kMaxUnrolled = std::size_t{1} << 15;
constexpr std::size_t kMaxDepth = 32;

// Adds 1 while it lives.
class Deeper {
 public:
  explicit Deeper(std::size_t& depth) : depth_(depth) {
    if (depth_ >= kMaxDepth) {
      throw UsageError("expected functions, loops and branches inside of each other at most " +
                       std::to_string(kMaxDepth) + " deep, got more");
    }
    ++depth_;
  }
  ~Deeper() { --depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  std::size_t& depth_;
};

// Gives a variable another value while it lives.
template <class T>
class Replaced {
 public:
  Replaced(T& variable, T value) : variable_(variable), before_(variable) { variable_ = std::move(value); }
  ~Replaced() { variable_ = before_; }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;

 private:
  T& variable_;
  T before_;
};

std::vector<std::string> names_of(const std::vector<ValueInfo>& values) {
  std::vector<std::string> names;
  for (const ValueInfo& value : values) names.push_back(value.name);
  return names;
}

}  // namespace

void GraphImport::run(Scope& scope) {
  call_.opsets = &model_.opsets;
  import_nodes(nodes_in_order(model_), names_of(model_.outputs), scope);
}

std::vector<Value> GraphImport::import_body(const ModelGraph& body, const std::vector<Value>& inputs,
                                            const Scope& around) {
  const Deeper deeper(depth_);
  count_unrolled(body.nodes.size() + 1);
  Scope scope(&around);
  for (std::size_t i = 0; i < inputs.size(); ++i) scope.set(body.inputs[i].name, inputs[i]);
  for (const auto& [name, constant] : body.initializers) scope.add_initializer(name, constant);
  const std::vector<std::string> names = names_of(body.outputs);
  import_nodes(nodes_in_order(body), names, scope);
  std::vector<Value> outputs;
  for (const std::string& name : names) {
    const Value* value = scope.find(name);
    if (value == nullptr) throw InnerRefusal();
    outputs.push_back(*value);
  }
  return outputs;
}

void GraphImport::import_call(const ModelNode& node, const ModelFunction& function, NodeImport& import) {
  const Deeper deeper(depth_);
  count_unrolled(function.nodes.size() + 1);
  import.expect(node.inputs.size() <= function.inputs.size() && node.outputs.size() <= function.outputs.size(),
                "no more inputs and outputs than the function has",
                [&] { return std::to_string(node.inputs.size()) + " and " + std::to_string(node.outputs.size()); });
  Scope scope;
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    if (import.has_input(i)) {
      scope.set(function.inputs[i], import.input(i));
    } else {
      scope.set_absent(function.inputs[i]);
    }
  }
  std::map<std::string, AttributeValue> attributes = node.attributes;
  attributes.insert(function.defaults.begin(), function.defaults.end());
  const Replaced replaced(call_, Call{&function.opsets, &attributes});
  import_nodes(nodes_in_order(function.nodes, {function.inputs.begin(), function.inputs.end()}), function.outputs,
               scope);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const Value* value = scope.find(function.outputs[i]);
    if (import.has_output(i) && value == nullptr) throw InnerRefusal();
    if (value != nullptr) import.output(i, *value);
  }
}

void GraphImport::import_nodes(const std::vector<const ModelNode*>& nodes, const std::vector<std::string>& outputs,
                               Scope& scope) {
  std::set<std::string> read(outputs.begin(), outputs.end());
  for (const ModelNode* node : nodes) {
    read.insert(node->inputs.begin(), node->inputs.end());
    read.insert(node->captured.begin(), node->captured.end());
  }
  read.erase("");
  for (const ModelNode* node : nodes) import_node(*node, read, scope);
}

void GraphImport::import_node(const ModelNode& given, const std::set<std::string>& read, Scope& scope) {
  const ModelNode node = with_attributes_of_call(given);
  const std::int64_t opset = opset_of(node);
  const std::string name = qualified_name(node.domain, node.op);
  const auto function = model_.functions.find(name);
  const Importer importer = find_importer(node.domain, node.op, opset);
  for (const std::string& output : node.outputs) scope.drop(output);
  if (function == model_.functions.end() && importer == nullptr) {
    Missing& group = missing_[name];
    if (group.nodes++ == 0) group = {&given, opset, 1};
    return;
  }
  NodeImport import(node, opset, builder_, scope, *this);
  const auto refused = [&](std::string why) {
    refusals_.push_back(std::move(why));
    for (const std::string& output : node.outputs) scope.drop(output);
  };
  try {
    if (!is_reachable(node, import, scope)) return;
    if (function != model_.functions.end()) {
      import_call(node, function->second, import);
    } else {
      importer(import);
      import.expect_no_other_attributes();
    }
    for (const std::string& output : node.outputs) {
      if (read.contains(output) && scope.find(output) == nullptr) {
        import.refuse("only outputs that ferry computes", "'" + printable(output) + "'");
      }
    }
  } catch (const InnerRefusal&) {
    for (const std::string& output : node.outputs) scope.drop(output);
  } catch (const NodeRefusal& refusal) {
    refused(refusal.what());
  } catch (const CompileError& error) {
    try {
      import.refuse(error.what());
    } catch (const NodeRefusal& refusal) {
      refused(refusal.what());
    }
  }
}

// Returns whether all inputs are there; a node that reads what a refused node computes is left out.
bool GraphImport::is_reachable(const ModelNode& node, const NodeImport& import, const Scope& scope) const {
  std::vector<std::string> inputs = node.inputs;
  inputs.insert(inputs.end(), node.captured.begin(), node.captured.end());
  for (const std::string& input : inputs) {
    if (input.empty() || scope.is_absent(input)) continue;
    if (const std::string* type = scope.unsupported_type(input)) {
      import.refuse("a tensor '" + printable(input) + "' of a type that ferry has", *type);
    }
    if (scope.find(input) == nullptr) return false;
  }
  return true;
}

ModelNode GraphImport::with_attributes_of_call(ModelNode node) const {
  if (call_.attributes == nullptr) return node;
  for (auto at = node.attributes.begin(); at != node.attributes.end();) {
    const auto* reference = std::get_if<AttributeReference>(&at->second);
    const auto found = reference == nullptr ? call_.attributes->end() : call_.attributes->find(reference->name);
    const bool is_given = found != call_.attributes->end();
    if (is_given) at->second = AttributeValue(found->second);
    at = reference == nullptr || is_given ? std::next(at) : node.attributes.erase(at);
  }
  return node;
}

std::int64_t GraphImport::opset_of(const ModelNode& node) const {
  const auto found = call_.opsets->find(node.domain);
  if (found != call_.opsets->end()) return found->second;
  throw UsageError("node '" + printable(node.name) + "' (" + printable(node.op) +
                   "): expected the model to name an opset of the domain '" +
                   (node.domain.empty() ? "ai.onnx" : printable(node.domain)) + "', got none");
}

void GraphImport::count_unrolled(std::size_t nodes) {
  unrolled_ += nodes;
  if (unrolled_ <= kMaxUnrolled) return;
  throw UsageError("expected at most " + std::to_string(kMaxUnrolled) +
                   " nodes in all iterations of loops and calls of functions, got more");
}

std::vector<std::string> GraphImport::refusals() const {
  std::vector<std::string> refusals = refusals_;
  for (const auto& [name, group] : missing_) {
    std::string nodes = "node '" + printable(group.first->name) + "'";
    if (group.nodes > 1) nodes += " and " + std::to_string(group.nodes - 1) + " more";
    const std::string others = supported_opsets(group.first->domain, group.first->op);
    refusals.push_back(
        nodes + " (" + printable(name) + ", opset " + std::to_string(group.opset) + "): ferry " +
        (others.empty() ? "does not import this operator" : "imports this operator of " + others + " only"));
  }
  return refusals;
}

}  // namespace ferry::graph::onnx
