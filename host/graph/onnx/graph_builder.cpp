#include <algorithm>
#include <ranges>
#include <utility>

#include "base/printable.h"
#include "host/graph/onnx/data_masks.h"
#include "host/graph/onnx/fold.h"
#include "host/graph/onnx/node_import.h"
#include "module/manifest.h"
#include "module/plan.h"

namespace ferry::graph::onnx {
namespace {

// Bounds what a small file can ask for by operators that become many nodes each; a plan has no more steps.
constexpr std::size_t kMaxNodes = ferry::kMaxSteps;

// Sizes that one kernel writes, each of which may be an argument of its own.
constexpr std::size_t kMaxSizes = 32;

// More than the inputs of one node whose sizes are compared in turn.
constexpr int kMaxRounds = 4;
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
    if (!depends_on_data(Shape(begin, end))) {
      parts.push_back(add(value.name, Operator::sizes, {}, SizesAttributes{{begin, end}}));
      continue;
    }
    std::vector<Value> elements;
    for (auto size = begin; size != end; ++size)
      elements.push_back(
          add(value.name, Operator::reshape, {computed_size(value.name, size->expr())}, ReshapeAttributes{{1}}));
    parts.push_back(elements.size() == 1 ? elements[0]
                                         : add(value.name, Operator::concat, elements, DimensionAttributes{0}));
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

namespace {

std::vector<TensorType> types_of(const std::vector<Value>& values) {
  std::vector<TensorType> types;
  for (const Value& value : values) types.push_back(value.type);
  return types;
}

void replace(Shape& shape, const Size& from, const Size& to) { std::ranges::replace(shape, from, to); }

// Returns "N of 'x'" for a size of one of the tensors, or else what it is.
template <class Values>
std::string described(const Size& size, const std::string& what, const Values& tensors) {
  for (const Value& tensor : tensors) {
    const bool has_size = std::ranges::find(tensor.type.shape, size) != tensor.type.shape.end();
    if (has_size) return to_text(size) + " of '" + printable(tensor.name.substr(0, kMaxNameBytes)) + "'";
  }
  return what + ", " + to_text(size) + ",";
}

}  // namespace

// Whether two sizes are equal wherever the requirements hold, as far as these say what a symbol is.
bool GraphBuilder::is_required(Size left, Size right) const {
  for (const Requirement& known : graph.requirements) {
    if (known.left == left && known.right == right) return true;
    const bool is_left = known.left.expr().as<ir::Var>() != nullptr;
    if (!is_left && known.right.expr().as<ir::Var>() == nullptr) continue;
    const std::string symbol = (is_left ? known.left : known.right).symbols()[0];
    const Size& value = is_left ? known.right : known.left;
    left = substitute(left, symbol, value);
    right = substitute(right, symbol, value);
    if (left == right) return true;
  }
  return false;
}

void GraphBuilder::require(const std::string& node, const std::vector<Value>& tensors, const EqualSizes& sizes) {
  const auto& [left, right, left_is, right_is] = sizes;
  if (is_required(left, right)) return;
  if (depends_on_data(left) || depends_on_data(right)) {
    throw CompileError("expected " + left_is + " and " + right_is + " to be equal in all calls, got " + to_text(left) +
                       " and " + to_text(right) + ", which depends on data");
  }
  const std::string first = described(left, left_is, tensors),
                    second = described(right, right_is, tensors | std::views::reverse);
  graph.requirements.push_back(
      {left, right, printable(node.substr(0, kMaxNameBytes)) + ": " + first + " must equal " + second});
}

// No size of a constant is replaced: numbers are the simplest of all.
Value GraphBuilder::with_size(const Value& value, const Size& from, const Size& to) {
  Value result = value;
  replace(result.type.shape, from, to);
  if (std::ranges::equal(result.type.shape, value.type.shape, [&](const Size& a, const Size& b) { return a == b; }))
    return value;
  expect_room();
  result.id =
      add_node(graph, {Operator::reshape, value.name, {tensor_of(value)}, {}, ReshapeAttributes{result.type.shape}});
  return result;
}

// An open dimension that fills what is left by the others is a number if that is one.
void GraphBuilder::settle_reshape(Node& node, const std::vector<Value>& inputs, const EqualSizes& elements) {
  Shape& shape = std::get<ReshapeAttributes>(node.attributes).shape;
  for (Size& open : shape) {
    if (open.constant()) continue;
    Size others = 1;
    for (const Size& other : shape) others = &other == &open ? others : others * other;
    const std::optional<Size> rest = divide_exactly(elements.right, others);
    if (!rest || !rest->constant()) continue;
    require(node.name, inputs, {open, *rest, "a size of " + to_text(shape), "what is left for it"});
    open = *rest;
    return;
  }
  require(node.name, inputs, elements);
}

void GraphBuilder::settle(Node& node, std::vector<Value>& inputs, const std::vector<EqualSizes>& undecided) {
  for (const EqualSizes& sizes : undecided) {
    if (node.op == Operator::reshape) {
      settle_reshape(node, inputs, sizes);
      continue;
    }
    require(node.name, inputs, sizes);
    const Size& kept = simpler(sizes.left, sizes.right);
    const Size& replaced = &kept == &sizes.left ? sizes.right : sizes.left;
    for (Value& input : inputs) input = with_size(input, replaced, kept);
    if (auto* broadcast = std::get_if<BroadcastAttributes>(&node.attributes)) replace(broadcast->shape, replaced, kept);
  }
}

Value GraphBuilder::add(const std::string& name, Operator op, const std::vector<Value>& inputs,
                        const Attributes& attributes) {
  if (!data_sizes_.empty()) {
    if (const std::optional<Value> masked = add_masked(*this, name, op, inputs, attributes)) return *masked;
  }
  return append(name, op, inputs, attributes);
}

Value GraphBuilder::append(const std::string& name, Operator op, const std::vector<Value>& given,
                           const Attributes& attributes) {
  Node node = {op, name, {}, {}, attributes};
  std::vector<Value> inputs = given;
  std::vector<EqualSizes> undecided;
  TensorType result = infer_types(node, types_of(inputs), &undecided).front();
  // Sizes that are replaced for one pair may be part of another.
  for (int round = 0; round < kMaxRounds && !undecided.empty(); ++round) {
    settle(node, inputs, std::exchange(undecided, {}));
    result = infer_types(node, types_of(inputs), op == Operator::reshape ? nullptr : &undecided).front();
  }
  if (!undecided.empty()) result = infer_types(node, types_of(inputs)).front();
  std::vector<KnownRef> known;
  for (const Value& input : inputs) known.push_back(input.known != nullptr ? input.known : input.quotients);
  Value value = {result};
  value.name = name;
  // A constant of any size takes another shape without being moved.
  if (op == Operator::reshape) value.constant = inputs[0].constant;
  if (std::find(known.begin(), known.end(), nullptr) == known.end())
    value.known = fold(node, types_of(inputs), known, result);
  if (value.known != nullptr && !value.known->ratios.empty()) value.quotients = std::exchange(value.known, nullptr);
  if (value.known != nullptr || value.constant != nullptr) return value;
  expect_room();
  for (const Value& input : inputs) node.inputs.push_back(tensor_of(input));
  value.id = add_node(graph, std::move(node));
  unnamed_.insert(value.id);
  return value;
}

std::vector<Value> GraphBuilder::begin_loop(const std::string& name, const LoopLength& length,
                                            const std::vector<Value>& states, const std::vector<Scanned>& tensors) {
  std::vector<Value> begun = add_bracket(name, Operator::loop, length, states, tensors);
  open_loops_.push_back(mark());
  return begun;
}

std::vector<Value> GraphBuilder::end_loop(const std::string& name, const LoopLength& length,
                                          const LoopResults& results) {
  end_data_sizes(results);
  std::vector<Value> ended = add_bracket(name, Operator::end_loop, length, results.states, results.entries);
  open_loops_.pop_back();
  return ended;
}

std::vector<Value> GraphBuilder::add_bracket(const std::string& name, Operator op, const LoopLength& length,
                                             const std::vector<Value>& states, const std::vector<Scanned>& tensors) {
  expect_room();
  if (depends_on_data(length.count)) {
    throw CompileError("expected a number of iterations that is known before the call, got " + to_text(length.count) +
                       ", which depends on data");
  }
  Node node = {op, name, {}, {}};
  LoopAttributes attributes{length.count, {}, length.has_condition};
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
  graph.requirements.resize(mark.requirements);
  data_sizes_.resize(mark.data_sizes);
  unnamed_.erase(unnamed_.lower_bound(static_cast<TensorId>(mark.tensors)), unnamed_.end());
  open_loops_.resize(mark.open_loops);
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
