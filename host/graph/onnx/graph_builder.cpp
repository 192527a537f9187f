#include <algorithm>

#include "base/printable.h"
#include "host/graph/onnx/fold.h"
#include "host/graph/onnx/node_import.h"
#include "module/plan.h"

namespace ferry::graph::onnx {
namespace {

// Bounds what a small file can ask for by operators that become many nodes each; a plan has no more steps.
constexpr std::size_t kMaxNodes = ferry::kMaxSteps;

}  // namespace

Value constant_value(std::string name, const Constant& constant) {
  if (!constant.unsupported_type.empty()) {
    throw CompileError("expected a tensor of a type that ferry has, got " + constant.unsupported_type + " for '" +
                       printable(name) + "'");
  }
  Value value = {{constant.dtype, Shape(constant.shape.begin(), constant.shape.end())}};
  value.constant = constant.data;
  value.known = known_of(constant.dtype, *constant.data);
  value.name = std::move(name);
  return value;
}

TensorId GraphBuilder::tensor_of(const Value& value) {
  if (value.id != kNoTensor) return value.id;
  std::shared_ptr<const ConstantData> data = value.constant;
  if (data == nullptr) {
    std::optional<ConstantData> bytes = bytes_of(value.type.dtype, *value.known);
    if (!bytes) {
      std::string sizes;
      for (const Size& size : value.known->integers) sizes += (sizes.empty() ? "" : ", ") + to_text(size);
      throw CompileError("expected contents that are computed when the network runs, got the sizes " + sizes +
                         " as a tensor");
    }
    data = std::make_shared<ConstantData>(*std::move(bytes));
  }
  const std::string type = to_text(value.type);
  for (auto [at, end] = constants_.equal_range(data.get()); at != end; ++at) {
    if (at->second.type == type) return at->second.id;
  }
  const TensorId id = add_constant(graph, value.name, value.type, data);
  constants_.emplace(data.get(), Materialized{type, id});
  kept_.push_back(std::move(data));
  return id;
}

Value GraphBuilder::add(const std::string& name, Operator op, const std::vector<Value>& inputs,
                        const Attributes& attributes) {
  Node node = {op, name, {}, {}, attributes};
  std::vector<TensorType> types;
  std::vector<KnownRef> known;
  for (const Value& input : inputs) {
    types.push_back(input.type);
    known.push_back(input.known);
  }
  const TensorType result = infer_types(node, types).front();
  Value value = {result};
  value.name = name;
  // A constant of any size takes another shape without being moved.
  if (op == Operator::reshape) value.constant = inputs[0].constant;
  if (std::find(known.begin(), known.end(), nullptr) == known.end()) value.known = fold(node, types, known, result);
  if (value.known != nullptr || value.constant != nullptr) return value;
  if (graph.nodes.size() >= kMaxNodes) {
    throw UsageError("expected a network of at most " + std::to_string(kMaxNodes) + " nodes, got more");
  }
  for (const Value& input : inputs) node.inputs.push_back(tensor_of(input));
  value.id = add_node(graph, std::move(node));
  unnamed_.insert(value.id);
  return value;
}

bool GraphBuilder::has_room_for(std::size_t elements) {
  constexpr std::size_t kMaxMade = std::size_t{1} << 22;
  made_ = elements > kMaxMade ? kMaxMade + 1 : made_ + elements;
  return made_ <= kMaxMade;
}

void GraphBuilder::rename(const Value& value, const std::string& name) {
  if (value.id != kNoTensor && unnamed_.erase(value.id) != 0) graph.tensors[value.id].name = name;
}

}  // namespace ferry::graph::onnx
