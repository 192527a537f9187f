#include "host/graph/onnx/graph_import.h"

#include <utility>

#include "base/printable.h"
#include "host/graph/onnx/advice.h"
#include "host/graph/onnx/labels.h"
#include "host/graph/onnx/node_order.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/stored_types.h"

namespace ferry::graph::onnx {
namespace {

// Bounds what a small file can ask for by loops and functions that call functions.
constexpr std::size_t kMaxUnrolled = std::size_t{1} << 15;
constexpr std::size_t kMaxUnrolledNames = std::size_t{1} << 20;
constexpr std::size_t kMaxDepth = 32;

// Counts one level of nesting for its lifetime.
class NestingGuard {
 public:
  explicit NestingGuard(std::size_t& depth) : depth_(depth) {
    if (depth_ >= kMaxDepth) {
      throw UsageError("expected functions, loops and branches nested at most " + std::to_string(kMaxDepth) +
                       " deep, got more");
    }
    ++depth_;
  }
  ~NestingGuard() { --depth_; }
  NestingGuard(const NestingGuard&) = delete;
  NestingGuard& operator=(const NestingGuard&) = delete;

 private:
  std::size_t& depth_;
};

// Assigns a value for its lifetime, then restores the previous one.
template <class T>
class ScopedValue {
 public:
  ScopedValue(T& variable, T value) : variable_(variable), before_(variable) { variable_ = std::move(value); }
  ~ScopedValue() { variable_ = before_; }
  ScopedValue(const ScopedValue&) = delete;
  ScopedValue& operator=(const ScopedValue&) = delete;

 private:
  T& variable_;
  T before_;
};

std::vector<std::string> names_of(const std::vector<ValueInfo>& values) {
  std::vector<std::string> names;
  for (const ValueInfo& value : values) names.push_back(value.name);
  return names;
}

// Returns the tensors that nodes read, or that are outputs of their graph.
std::set<std::string> tensors_read(const std::vector<const ModelNode*>& nodes,
                                   const std::vector<std::string>& outputs) {
  std::set<std::string> read(outputs.begin(), outputs.end());
  for (const ModelNode* node : nodes) {
    read.insert(node->inputs.begin(), node->inputs.end());
    read.insert(node->captured.begin(), node->captured.end());
  }
  read.erase("");
  return read;
}

std::size_t count_names(const std::vector<const ModelNode*>& nodes) {
  std::size_t names = 0;
  for (const ModelNode* node : nodes) {
    names += node->inputs.size() + node->outputs.size() + node->captured.size() + node->attributes.size();
  }
  return names;
}

}  // namespace

void GraphImport::run(Scope& scope) {
  call_.opsets = &model_.opsets;
  import_nodes(prepared(model_), scope);
}

const GraphImport::Body& GraphImport::prepared(const ModelGraph& graph) {
  const auto [found, is_new] = prepared_.try_emplace(&graph);
  Body& body = found->second;
  if (!is_new) return body;
  body.nodes = nodes_in_order(graph);
  body.read = tensors_read(body.nodes, names_of(graph.outputs));
  body.ranks = graph.ranks;
  if (&graph != &model_) {
    for (const auto& [name, constant] : graph.initializers) body.initializers.add_initializer(name, constant);
  }
  body.names = graph.inputs.size() + graph.outputs.size() + graph.initializers.size() + count_names(body.nodes);
  return body;
}

const GraphImport::Body& GraphImport::prepared(const ModelFunction& function) {
  const auto [found, is_new] = prepared_.try_emplace(&function);
  Body& body = found->second;
  if (!is_new) return body;
  body.nodes = nodes_in_order(function.nodes, {function.inputs.begin(), function.inputs.end()});
  body.read = tensors_read(body.nodes, function.outputs);
  body.names = function.inputs.size() + function.outputs.size() + function.defaults.size() + count_names(body.nodes);
  return body;
}

std::vector<Value> GraphImport::import_body(const ModelGraph& body, const std::vector<Value>& inputs,
                                            const Scope& around) {
  const NestingGuard nesting(depth_);
  const Body& own = prepared(body);
  count_unrolled(own);
  Scope scope(own.initializers, &around);
  for (std::size_t i = 0; i < inputs.size(); ++i) scope.set(body.inputs[i].name, inputs[i]);
  import_nodes(own, scope);
  std::vector<Value> outputs;
  for (const ValueInfo& output : body.outputs) {
    const Value* value = scope.find(output.name);
    if (value == nullptr) throw InnerRefusal();
    outputs.push_back(*value);
  }
  return outputs;
}

bool GraphImport::attempt(const std::function<bool()>& action) {
  std::set<const ModelNode*> refused = std::exchange(refused_, {});
  std::vector<std::string> refusals = std::exchange(refusals_, {});
  std::map<std::string, Missing> missing = std::exchange(missing_, {});
  bool is_imported = false;
  try {
    is_imported = action() && refusals_.empty() && missing_.empty();
  } catch (const InnerRefusal&) {
  } catch (const CompileError&) {
  }
  refused_ = std::move(refused);
  refusals_ = std::move(refusals);
  missing_ = std::move(missing);
  return is_imported;
}

void GraphImport::import_call(const ModelNode& node, const AttributeRefs& attributes, const ModelFunction& function,
                              NodeImport& import) {
  const NestingGuard nesting(depth_);
  const Body& body = prepared(function);
  count_unrolled(body);
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
  AttributeRefs given = attributes;
  for (const auto& [name, value] : function.defaults) given.emplace(name, &value);
  const ScopedValue call(call_, Call{&function.opsets, &given});
  import_nodes(body, scope);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const Value* value = scope.find(function.outputs[i]);
    if (import.has_output(i) && value == nullptr) throw InnerRefusal();
    if (value != nullptr) import.output(i, *value);
  }
}

void GraphImport::import_nodes(const Body& body, Scope& scope) {
  for (const ModelNode* node : body.nodes) import_node(*node, body, scope);
}

void GraphImport::import_node(const ModelNode& node, const Body& body, Scope& scope) {
  const std::int64_t opset = opset_of(node);
  const std::string name = qualified_name(node.domain, node.op);
  const auto function = model_.functions.find(name);
  const Importer importer = find_importer(node.domain, node.op, opset);
  for (const std::string& output : node.outputs) scope.drop(output);
  if (function == model_.functions.end() && importer == nullptr) {
    Missing& group = missing_[name];
    if (group.first == nullptr) group = {&node, opset};
    group.nodes.insert(&node);
    return;
  }
  const AttributeRefs attributes = attributes_of(node);
  NodeImport import(node, attributes, body.ranks, opset, builder_, scope, *this);
  const auto refused = [&](std::string why) {
    if (refused_.insert(&node).second) refusals_.push_back(std::move(why));
    for (const std::string& output : node.outputs) scope.drop(output);
  };
  try {
    if (!is_reachable(node, import, scope)) return;
    if (function != model_.functions.end()) {
      import_call(node, attributes, function->second, import);
    } else {
      importer(import);
      keep_labels(node, scope);
      import.expect_no_other_attributes();
    }
    for (const std::string& output : node.outputs) {
      const Value* value = scope.find(output);
      if (body.read.contains(output) && value == nullptr) {
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
  for (const std::vector<std::string>* inputs : {&node.inputs, &node.captured}) {
    for (const std::string& input : *inputs) {
      if (input.empty() || scope.is_absent(input)) continue;
      if (const std::string* type = scope.unsupported_type(input)) {
        const Constant& stored = *scope.unsupported(input);
        const bool is_read =
            stored.texts != nullptr ? reads_texts(node.domain, node.op) : decodes_stored_types(node.domain, node.op);
        if (!is_read || (stored.data == nullptr && stored.texts == nullptr))
          import.refuse("a tensor '" + printable(input) + "' of a type that ferry has", *type);
        continue;
      }
      const Value* value = scope.find(input);
      if (value == nullptr) return false;
      if (value->labels != nullptr && !value->labels->are_columns && !takes_labels(node.domain, node.op))
        import.refuse("a tensor '" + printable(input) + "' of numbers", "texts");
    }
  }
  return true;
}

// A reference to a graph remains one, and is refused as such: the graph's nodes would see the function's tensors
// instead of those around the call.
AttributeRefs GraphImport::attributes_of(const ModelNode& node) const {
  AttributeRefs attributes;
  for (const auto& [name, value] : node.attributes) {
    const auto* reference = std::get_if<AttributeReference>(&value);
    if (reference == nullptr || call_.attributes == nullptr) {
      attributes.emplace(name, &value);
      continue;
    }
    const auto found = call_.attributes->find(reference->name);
    if (found == call_.attributes->end()) continue;
    attributes.emplace(name, std::holds_alternative<ModelGraphRef>(*found->second) ? &value : found->second);
  }
  return attributes;
}

std::int64_t GraphImport::opset_of(const ModelNode& node) const {
  const auto found = call_.opsets->find(node.domain);
  if (found != call_.opsets->end()) return found->second;
  throw UsageError("node '" + printable(node.name) + "' (" + printable(node.op) +
                   "): expected the model to name an opset of the domain '" +
                   (node.domain.empty() ? "ai.onnx" : printable(node.domain)) + "', got none");
}

void GraphImport::count_unrolled(const Body& body) {
  const auto expect_at_most = [](std::size_t limit, const char* what, std::size_t got) {
    if (got <= limit) return;
    throw UsageError("expected at most " + std::to_string(limit) + " " + what +
                     " in all iterations of loops and calls of functions, got more");
  };
  unrolled_ += body.nodes.size();
  unrolled_names_ += body.names;
  expect_at_most(kMaxUnrolled, "nodes", unrolled_);
  expect_at_most(kMaxUnrolledNames, "tensors and attributes", unrolled_names_);
}

std::vector<std::string> GraphImport::refusals() const {
  std::vector<std::string> refusals = refusals_;
  for (const auto& [name, group] : missing_) {
    std::string nodes = "node '" + printable(group.first->name) + "'";
    if (group.nodes.size() > 1) nodes += " and " + std::to_string(group.nodes.size() - 1) + " more";
    const std::string others = supported_opsets(group.first->domain, group.first->op);
    const std::string advice = others.empty()
                                   ? advice_about(group.first->domain, group.first->op)
                                   : std::string("convert the model to one of them with onnx.version_converter");
    refusals.push_back(
        nodes + " (" + printable(name) + ", opset " + std::to_string(group.opset) + "): ferry " +
        (others.empty() ? "does not import this operator" : "imports this operator of " + others + " only") +
        (advice.empty() ? "" : "; " + advice));
  }
  return refusals;
}

}  // namespace ferry::graph::onnx
