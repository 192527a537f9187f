#include "host/graph/onnx/labels.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include "base/printable.h"
#include "ferry/error.h"

namespace ferry::graph::onnx {
namespace {

constexpr std::string_view kMoving[] = {"Concat", "Flatten", "Gather",  "Identity",  "Reshape",
                                        "Slice",  "Split",   "Squeeze", "Transpose", "Unsqueeze"};

bool moves(const std::string& domain, const std::string& op) {
  if (domain == "ai.onnx.ml") return op == "ArrayFeatureExtractor";
  return domain.empty() && std::ranges::find(kMoving, op) != std::end(kMoving);
}

// Collects the texts with which a node compares its input.
class Keys {
 public:
  void add(const ModelNode& node) {
    for (const auto& [name, value] : node.attributes) {
      const bool is_key = name.starts_with("keys") || name.starts_with("cats") || name.starts_with("classes");
      const auto* constant = std::get_if<Constant>(&value);
      if (const auto* texts = std::get_if<std::vector<std::string>>(&value); is_key && texts != nullptr) add(*texts);
      if (is_key && constant != nullptr && constant->texts != nullptr) add(*constant->texts);
      if (const auto* body = std::get_if<ModelGraphRef>(&value)) add_all((*body)->nodes);
    }
  }
  void add_all(const std::vector<ModelNode>& nodes) {
    for (const ModelNode& node : nodes) add(node);
  }

  std::shared_ptr<const Labels> with_one_more() const {
    std::string other = "any other text";
    while (known_.contains(other)) other += "!";
    Labels labels{texts_};
    labels.texts.push_back(other);
    return std::make_shared<const Labels>(std::move(labels));
  }

 private:
  void add(const std::vector<std::string>& texts) {
    for (const std::string& text : texts)
      if (known_.insert(text).second) texts_.push_back(text);
  }

  std::vector<std::string> texts_;
  std::set<std::string> known_;
};

// Tensors that nodes move texts between, each set with one of its members as its name.
class MovedTexts {
 public:
  explicit MovedTexts(const Model& model) {
    for (const ModelNode& node : model.nodes) {
      if (node.inputs.empty() || (!moves(node.domain, node.op) && node.op != "Cast")) continue;
      for (const std::vector<std::string>* tensors : {&node.inputs, &node.outputs})
        for (const std::string& tensor : *tensors)
          if (!tensor.empty()) join(node.inputs[0], tensor);
    }
  }

  std::string set_of(std::string tensor) const {
    for (auto next = joined_.find(tensor); next != joined_.end(); next = joined_.find(tensor)) tensor = next->second;
    return tensor;
  }

 private:
  void join(const std::string& a, const std::string& b) {
    const std::string from = set_of(a), to = set_of(b);
    if (from != to) joined_[from] = to;
  }

  std::map<std::string, std::string> joined_;
};

}  // namespace

std::map<std::string, std::shared_ptr<const Labels>> labels_of_inputs(const Model& model) {
  std::map<std::string, std::shared_ptr<const Labels>> labels;
  std::vector<std::string> inputs;
  for (const ValueInfo& input : model.inputs)
    if (input.type_name == kTextType) inputs.push_back(input.name);
  if (inputs.empty()) return labels;
  const MovedTexts moved(model);
  std::map<std::string, Keys> keys;
  for (const std::string& input : inputs) keys[moved.set_of(input)];
  for (auto& [set, own] : keys) {
    for (const ModelNode& node : model.nodes) {
      // Graphs of loops and branches, and functions, may have other names for the tensors.
      const bool has_graphs = std::ranges::any_of(
          node.attributes, [](const auto& one) { return std::holds_alternative<ModelGraphRef>(one.second); });
      const auto is_read = [&](const std::string& tensor) { return moved.set_of(tensor) == set; };
      if (has_graphs || std::ranges::any_of(node.inputs, is_read)) own.add(node);
    }
    for (const auto& [name, function] : model.functions) own.add_all(function.nodes);
  }
  std::map<std::string, std::shared_ptr<const Labels>> of_set;
  for (const auto& [set, own] : keys) of_set[set] = own.with_one_more();
  for (const std::string& input : inputs) labels[input] = of_set.at(moved.set_of(input));
  return labels;
}

bool reads_texts(const std::string& domain, const std::string& op) {
  return domain == "ai.onnx.ml" && op == "ArrayFeatureExtractor";
}

bool takes_labels(const std::string& domain, const std::string& op) {
  return moves(domain, op) || (domain.empty() && op == "Cast") ||
         (domain == "ai.onnx.ml" && (op == "LabelEncoder" || op == "CategoryMapper" || op == "OneHotEncoder"));
}

void keep_labels(const ModelNode& node, Scope& scope) {
  if (!moves(node.domain, node.op) || node.inputs.empty()) return;
  const Value* from = scope.find(node.inputs[0]);
  if (from == nullptr || from->labels == nullptr) return;
  const auto labels = from->labels;
  if (node.op == "Concat") {
    for (const std::string& input : node.inputs) {
      const Value* other = scope.find(input);
      if (other == nullptr || other->labels != labels)
        throw CompileError("expected texts of one list, got '" + printable(input) + "' with others");
    }
  }
  for (const std::string& output : node.outputs) {
    const Value* to = scope.find(output);
    if (to == nullptr) continue;
    Value labelled = *to;
    labelled.labels = labels;
    scope.set(output, std::move(labelled));
  }
}

}  // namespace ferry::graph::onnx
