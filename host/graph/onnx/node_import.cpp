#include "host/graph/onnx/node_import.h"

#include "host/graph/onnx/size_conditions.h"

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "base/suggest.h"
#include "host/graph/node_check.h"
#include "host/graph/onnx/convert_tensor.h"
#include "host/graph/onnx/fold_elements.h"
#include "module/plan.h"

namespace ferry::graph::onnx {
namespace {

std::string node_text(const ModelNode& node, std::int64_t opset) {
  const std::string domain = node.domain.empty() ? "" : node.domain + ".";
  return "node '" + printable(node.name) + "' (" + printable(domain + node.op) + ", opset " + std::to_string(opset) +
         "): ";
}

const char* kind_of(const AttributeValue& value) {
  constexpr const char* kKinds[] = {"an integer", "a float",  "a text",  "integers",   "floats",
                                    "texts",      "a tensor", "a graph", "a reference"};
  const auto* other = std::get_if<OtherAttribute>(&value);
  return other != nullptr ? other->kind.c_str() : kKinds[value.index()];
}

}  // namespace

void NodeImport::refuse(const std::string& message) const { throw NodeRefusal(node_text(node_, opset_) + message); }

void NodeImport::refuse(const std::string& expected, const std::string& got) const {
  refuse("expected " + expected + ", got " + got);
}

const AttributeValue* NodeImport::attribute(const std::string& name) {
  named_.insert(name);
  const auto found = attributes_.find(name);
  return found == attributes_.end() ? nullptr : found->second;
}

void NodeImport::ignore(std::initializer_list<const char*> names) {
  for (const char* name : names) named_.insert(name);
}

void NodeImport::expect_no_other_attributes() const {
  for (const auto& [name, value] : attributes_) {
    if (!named_.contains(name)) refuse("no attribute '" + printable(name) + "'", kind_of(*value));
  }
}

namespace {

// Returns the attribute's value as a T; `otherwise` if it is not given.
template <class T>
T value_or(NodeImport& node, const std::string& name, const char* kind, std::optional<T> otherwise) {
  const AttributeValue* value = node.attribute(name);
  if (value == nullptr && otherwise) return *std::move(otherwise);
  const T* typed = value == nullptr ? nullptr : std::get_if<T>(value);
  if (typed == nullptr) {
    node.refuse("the attribute '" + name + "' with " + kind, value == nullptr ? "none" : kind_of(*value));
  }
  return *typed;
}

}  // namespace

std::int64_t NodeImport::integer(const std::string& name, std::optional<std::int64_t> otherwise) {
  return value_or<std::int64_t>(*this, name, "an integer", otherwise);
}

double NodeImport::real(const std::string& name, std::optional<double> otherwise) {
  if (otherwise && !has(name)) {
    ignore({name.c_str()});
    return *otherwise;
  }
  return value_or<float>(*this, name, "a float", {});
}

std::string NodeImport::text(const std::string& name, const std::string& otherwise) {
  return value_or<std::string>(*this, name, "a text", otherwise);
}

std::vector<double> NodeImport::reals(const std::string& name) {
  const auto values = value_or<std::vector<float>>(*this, name, "floats", std::vector<float>());
  return {values.begin(), values.end()};
}

std::vector<std::string> NodeImport::texts(const std::string& name) {
  return value_or<std::vector<std::string>>(*this, name, "texts", std::vector<std::string>());
}

DType NodeImport::element_type(const std::string& name) {
  const std::int64_t number = integer(name);
  const bool fits = number == static_cast<std::int32_t>(number);
  const std::optional<DType> type = fits ? dtype_of(static_cast<std::int32_t>(number)) : std::nullopt;
  expect(type.has_value(), "a type that ferry has",
         [&] { return fits ? element_type_name(static_cast<std::int32_t>(number)) : std::to_string(number); });
  return *type;
}

const ModelGraph& NodeImport::body(const std::string& name) {
  return *value_or<ModelGraphRef>(*this, name, "a graph", {});
}

std::vector<std::int64_t> NodeImport::integers(const std::string& name,
                                               std::optional<std::vector<std::int64_t>> otherwise) {
  return value_or<std::vector<std::int64_t>>(*this, name, "integers", std::move(otherwise));
}

const Value& NodeImport::input(std::size_t i) const {
  if (!has_input(i)) refuse("at least " + std::to_string(i + 1) + " inputs", std::to_string(i));
  if (const Constant* stored = stored_input(i)) refuse("a tensor of a type that ferry has", stored->unsupported_type);
  return *scope_.find(node_.inputs[i]);
}

std::optional<std::size_t> NodeImport::declared_rank(std::size_t output) const {
  const auto found = has_output(output) ? ranks_.find(node_.outputs[output]) : ranks_.end();
  return found == ranks_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Value> NodeImport::inputs() const {
  std::vector<Value> all;
  for (std::size_t i = 0; i < input_count(); ++i) all.push_back(input(i));
  return all;
}

std::vector<Size> NodeImport::sizes(std::size_t i, const std::string& what) const {
  const Value& value = input(i);
  if (is_float(value.type.dtype)) refuse(what + " as integers", dtype_name(value.type.dtype));
  if (value.known == nullptr) {
    refuse(what + " to be known when the network is imported",
           "the computed tensor '" + printable(node_.inputs[i]) + "'; bind the input that decides it");
  }
  return value.known->integers;
}

std::vector<std::int64_t> NodeImport::numbers(std::size_t i, const std::string& what) const {
  std::vector<std::int64_t> numbers;
  for (const Size& size : sizes(i, what)) {
    if (!size.constant()) refuse(what + " as numbers", to_text(size));
    numbers.push_back(*size.constant());
  }
  return numbers;
}

Size NodeImport::size(std::size_t i, const std::string& what) const {
  const Value& value = input(i);
  const std::vector<Ratio>* ratios = value.quotients != nullptr ? &value.quotients->ratios : nullptr;
  if (ratios != nullptr && ratios->size() == 1 && ratios->front().denominator == 1) return ratios->front().numerator;
  if (is_float(value.type.dtype)) return number(i, what);
  const std::vector<Size> all = sizes(i, what);
  if (all.size() != 1) refuse(what + " to be one number", to_text(value.type));
  return all[0];
}

double NodeImport::scalar(std::size_t i, const std::string& what) const {
  const Value& value = input(i);
  const std::size_t count = value.known == nullptr ? 0 : value.known->reals.size() + value.known->integers.size();
  if (count != 1) refuse(what + " to be one number that is known when the network is imported", to_text(value.type));
  if (!value.known->reals.empty()) return value.known->reals[0];
  return static_cast<double>(numbers(i, what)[0]);
}

std::int64_t NodeImport::number(std::size_t i, const std::string& what) const {
  const double value = scalar(i, what);
  if (!is_float(input(i).type.dtype)) return numbers(i, what)[0];
  expect(std::floor(value) == value && std::fabs(value) <= 0x1p53, what + " as an integer",
         [&] { return std::to_string(value); });
  return static_cast<std::int64_t>(value);
}

void NodeImport::output(std::size_t i, const Value& value) {
  if (!has_output(i)) return;
  const std::string& name = node_.outputs[i];
  builder_.rename(value, name);
  Value output = value;
  output.name = name;
  scope_.set(name, std::move(output));
}

Size NodeImport::equal(const std::string& what, const Size& size, const std::string& other_what,
                       const Size& other) const {
  if (size == other) return simpler(size, other);
  expect(!proves_different(size, other), what + " to equal " + other_what,
         [&] { return to_text(size) + " and " + to_text(other); });
  builder_.require(node_.name, {input(0)}, {size, other, what, other_what});
  return simpler(size, other);
}

Shape NodeImport::broadcast_shape(const Shape& a, const Shape& b) const {
  std::vector<EqualSizes> undecided;
  std::optional<Shape> shape = broadcast_shapes(a, b, &undecided);
  expect(shape.has_value(), "shapes that broadcast", [&] { return to_text(a) + " and " + to_text(b); });
  std::vector<Value> tensors;
  for (const Value& value : inputs())
    if (value.type.shape == a || value.type.shape == b) tensors.push_back(value);
  for (const EqualSizes& sizes : undecided) builder_.require(node_.name, tensors, sizes);
  return *std::move(shape);
}

Size NodeImport::data_size(const Value& count, const Size& bound) const {
  return builder_.add_data_size(node_.outputs.empty() ? node_.name : node_.outputs[0], count, bound);
}

std::size_t NodeImport::dimension(std::int64_t axis, std::size_t rank) const {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  expect(axis >= -signed_rank && axis < signed_rank, "an axis of a tensor of rank " + std::to_string(rank),
         [&] { return std::to_string(axis); });
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

std::vector<Value> NodeImport::import_branch(const ModelGraph& body) const {
  ++builder_.open_branches;
  try {
    std::vector<Value> outputs = import_body(body, {});
    --builder_.open_branches;
    return outputs;
  } catch (...) {
    --builder_.open_branches;
    throw;
  }
}

std::optional<Size> NodeImport::size_compared_with_1(const Value& condition) const {
  return graph::onnx::size_compared_with_1(builder_.graph, condition.id);
}

Value NodeImport::add(Operator op, const std::vector<Value>& inputs, const Attributes& attributes) const {
  try {
    return builder_.add(node_.name, op, inputs, attributes);
  } catch (const NodeError& error) {
    refuse(error.detail());
  }
}

std::vector<Value> NodeImport::import_body(const ModelGraph& body, const std::vector<Value>& inputs) const {
  expect(body.inputs.size() == inputs.size(), "a body with " + std::to_string(inputs.size()) + " inputs",
         [&] { return std::to_string(body.inputs.size()); });
  return bodies_.import_body(body, inputs, scope_);
}

std::vector<Value> NodeImport::add_loop(const LoopLength& length, const std::vector<Value>& states,
                                        const std::vector<Scanned>& tensors, const Iteration& iteration) const {
  // Bounds the memory that must be kept at once for one node.
  constexpr std::size_t kMostTensors = 256;
  const auto expect_few = [&](std::size_t number) {
    expect(number <= kMostTensors,
           "at most " + std::to_string(kMostTensors) + " states and tensors of a loop of more than " +
               std::to_string(builder_.most_unrolled) + " iterations",
           [&] { return std::to_string(number); });
  };
  expect(builder_.open_loops() < kMaxRepeatDepth,
         "at most " + std::to_string(kMaxRepeatDepth) + " loops of more than " +
             std::to_string(builder_.most_unrolled) +
             " iterations, and branches that the call chooses, inside of each other",
         [] { return "more"; });
  expect_few(states.size() + tensors.size());
  const GraphBuilder::Mark mark = builder_.mark();
  try {
    std::vector<Value> begun = builder_.begin_loop(node_.name, length, states, tensors);
    const auto first_entry = begun.begin() + static_cast<std::ptrdiff_t>(states.size());
    const LoopResults results = iteration({begun.begin(), first_entry}, {first_entry, begun.end()});
    expect_few(results.states.size() + results.entries.size());
    for (std::size_t s = 0; s < states.size(); ++s) {
      expect(results.states[s].type == states[s].type,
             "a state of the same type in all iterations, " + to_text(states[s].type),
             [&] { return to_text(results.states[s].type); });
    }
    return builder_.end_loop(node_.name, length, results);
  } catch (...) {
    builder_.roll_back(mark);
    throw;
  }
}

std::optional<std::vector<Value>> NodeImport::try_loop(const Size& count, const std::vector<Value>& states,
                                                       const std::vector<Scanned>& tensors,
                                                       const Iteration& iteration) const {
  if (!count.constant()) return add_loop(count, states, tensors, iteration);
  const GraphBuilder::Mark mark = builder_.mark();
  std::vector<Value> results;
  const bool is_added = bodies_.attempt([&] {
    results = add_loop(count, states, tensors, iteration);
    return true;
  });
  if (is_added) return results;
  builder_.roll_back(mark);
  return std::nullopt;
}

Value NodeImport::reshape(const Value& value, Shape shape) const {
  if (value.type.shape == shape) return value;
  return add(Operator::reshape, {value}, ReshapeAttributes{std::move(shape)});
}

Value NodeImport::cast(const Value& value, DType to) const {
  return value.type.dtype == to ? value : add(Operator::cast, {value}, CastAttributes{to});
}

Value NodeImport::constant(DType dtype, double value) const {
  Known contents;
  if (is_float(dtype)) {
    contents.reals = {rounded(dtype, value)};
  } else {
    const bool is_integer = value >= -0x1p63 && value < 0x1p63 && std::floor(value) == value;
    expect(is_integer && fits(static_cast<std::int64_t>(value), dtype), std::string("a value of ") + dtype_name(dtype),
           [&] { return std::to_string(value); });
    contents.integers = {static_cast<std::int64_t>(value)};
  }
  return known({dtype, {}}, std::move(contents));
}

Value NodeImport::known(DType dtype, std::vector<Size> sizes) const {
  const Shape shape = {static_cast<std::int64_t>(sizes.size())};
  return known({dtype, shape}, Known{std::move(sizes)});
}

Value NodeImport::known(TensorType type, Known contents) const {
  expect(builder_.has_room_for(contents.integers.size() + contents.reals.size()),
         "fewer than 2^22 elements in all constants that the import makes", [] { return "more"; });
  Value value = {std::move(type)};
  value.known = std::make_shared<Known>(std::move(contents));
  value.name = node_.name;
  return value;
}

}  // namespace ferry::graph::onnx
