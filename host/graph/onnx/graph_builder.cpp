#include <algorithm>

#include "base/printable.h"
#include "host/graph/onnx/fold.h"
#include "host/graph/onnx/node_import.h"
#include "module/plan.h"

namespace ferry::graph::onnx {
namespace {

// Bounds what a small file can ask for by operators that become many nodes each; a plan has no more steps.
constexpr std::size_t kMaxNodes = ferry::kMaxSteps;

// Sizes that one kernel writes, each of which may be an argument of its own.
constexpr std::size_t kMaxSizes = 32;
static_assert(kMaxKnown <= kMaxSizes * 32, "one node joins all parts");

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
    if (!bytes) return add_sizes(value);
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

// Sizes are computed anew wherever they are read: a node inside of a loop cannot be read outside.
TensorId GraphBuilder::add_sizes(const Value& value) {
  const std::vector<Size>& sizes = value.known->integers;
  std::vector<Value> parts;
  for (std::size_t first = 0; first < sizes.size(); first += kMaxSizes) {
    const auto begin = sizes.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(kMaxSizes, sizes.size() - first));
    parts.push_back(add(value.name, Operator::sizes, {}, SizesAttributes{{begin, end}}));
  }
  Value all = parts.size() == 1 ? parts[0] : add(value.name, Operator::concat, parts, DimensionAttributes{0});
  if (all.type.shape != value.type.shape)
    all = add(value.name, Operator::reshape, {all}, ReshapeAttributes{value.type.shape});
  if (all.type.dtype != value.type.dtype)
    all = add(value.name, Operator::cast, {all}, CastAttributes{value.type.dtype});
  return all.id;
}

void GraphBuilder::expect_room() const {
  if (graph.nodes.size() >= kMaxNodes) {
    throw UsageError("expected a network of at most " + std::to_string(kMaxNodes) + " nodes, got more");
  }
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
  expect_room();
  for (const Value& input : inputs) node.inputs.push_back(tensor_of(input));
  value.id = add_node(graph, std::move(node));
  unnamed_.insert(value.id);
  return value;
}

std::vector<Value> GraphBuilder::begin_loop(const std::string& name, const Size& count,
                                            const std::vector<Value>& states, const std::vector<Scanned>& tensors) {
  std::vector<Value> begun = add_bracket(name, Operator::loop, count, states, tensors);
  ++open_loops_;
  return begun;
}

std::vector<Value> GraphBuilder::end_loop(const std::string& name, const Size& count, const LoopResults& results) {
  std::vector<Value> ended = add_bracket(name, Operator::end_loop, count, results.states, results.entries);
  --open_loops_;
  return ended;
}

std::vector<Value> GraphBuilder::add_bracket(const std::string& name, Operator op, const Size& count,
                                             const std::vector<Value>& states, const std::vector<Scanned>& tensors) {
  expect_room();
  Node node = {op, name, {}, {}};
  LoopAttributes attributes{count, {}};
  for (const Value& state : states) node.inputs.push_back(tensor_of(state));
  for (const auto& [value, is_backwards] : tensors) {
    node.inputs.push_back(tensor_of(value));
    attributes.tensors.push_back({is_backwards});
  }
  node.attributes = std::move(attributes);
  add_node(graph, std::move(node));
  std::vector<Value> values;
  for (const TensorId id : graph.nodes.back().outputs) {
    values.push_back({type_of(graph.tensor(id)), id});
    values.back().name = name;
    unnamed_.insert(id);
  }
  return values;
}

void GraphBuilder::roll_back(const Mark& mark) {
  for (; kept_.size() > mark.kept; kept_.pop_back()) {
    const auto [first, last] = constants_.equal_range(kept_.back().get());
    const auto added = std::find_if(first, last, [&](const auto& one) { return one.second.id >= mark.tensors; });
    if (added != last) constants_.erase(added);
  }
  graph.tensors.resize(mark.tensors);
  graph.nodes.resize(mark.nodes);
  unnamed_.erase(unnamed_.lower_bound(static_cast<TensorId>(mark.tensors)), unnamed_.end());
  open_loops_ = mark.open_loops;
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
