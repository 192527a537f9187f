#include "host/graph/onnx/labels.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ferry::graph::onnx {
namespace {

constexpr std::string_view kMoving[] = {"Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"};

bool moves(const std::string& domain, const std::string& op) {
  return domain.empty() && std::ranges::find(kMoving, op) != std::end(kMoving);
}

}  // namespace

bool reads_texts(const std::string& domain, const std::string& op) {
  return domain == "ai.onnx.ml" && op == "ArrayFeatureExtractor";
}

bool takes_labels(const std::string& domain, const std::string& op) {
  return moves(domain, op) || (domain.empty() && op == "Cast") ||
         (domain == "ai.onnx.ml" && (op == "LabelEncoder" || op == "CategoryMapper"));
}

void keep_labels(const ModelNode& node, Scope& scope) {
  if (!moves(node.domain, node.op) || node.inputs.empty()) return;
  const Value* from = scope.find(node.inputs[0]);
  if (from == nullptr || from->labels == nullptr) return;
  const auto labels = from->labels;
  for (const std::string& output : node.outputs) {
    const Value* to = scope.find(output);
    if (to == nullptr) continue;
    Value labelled = *to;
    labelled.labels = labels;
    scope.set(output, std::move(labelled));
  }
}

}  // namespace ferry::graph::onnx
