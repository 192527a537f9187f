// Elementwise functions that have a graph operator.
#include <algorithm>
#include <iterator>

#include "host/graph/onnx/convert_tensor.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

struct Function {
  const char* op;
  Operator function;
  bool swapped = false;  // of the second input and the first
};
constexpr Function kFunctions[] = {
    {"Abs", Operator::abs},
    {"Ceil", Operator::ceil},
    {"Cos", Operator::cos},
    {"Erf", Operator::erf},
    {"Exp", Operator::exp},
    {"Floor", Operator::floor},
    {"Log", Operator::log},
    {"Neg", Operator::neg},
    {"Not", Operator::logical_not},
    {"Relu", Operator::relu},
    {"Round", Operator::round},
    {"Sigmoid", Operator::sigmoid},
    {"Sin", Operator::sin},
    {"Sqrt", Operator::sqrt},
    {"Tanh", Operator::tanh},
    {"Add", Operator::add},
    {"And", Operator::logical_and},
    {"Div", Operator::div},
    {"Equal", Operator::equal},
    {"Greater", Operator::less, true},
    {"GreaterOrEqual", Operator::less_equal, true},
    {"Less", Operator::less},
    {"LessOrEqual", Operator::less_equal},
    {"Mul", Operator::mul},
    {"Or", Operator::logical_or},
    {"Pow", Operator::pow},
    {"Sub", Operator::sub},
    {"Max", Operator::maximum},
    {"Mean", Operator::add},
    {"Min", Operator::minimum},
    {"Sum", Operator::add},
};

const Function& function_of(const NodeImport& node) {
  return *std::find_if(std::begin(kFunctions), std::end(kFunctions),
                       [&](const Function& function) { return node.op() == function.op; });
}

// In opset 6, `axis` says where the dimensions of the second input stand in the first.
Value second_of_opset_6(NodeImport& node) {
  const Shape &a = node.shape(0), &b = node.shape(1);
  node.ignore({"broadcast", "axis"});
  if (!node.has("axis")) return node.input(1);
  const std::size_t axis = node.dimension(node.integer("axis"), a.size());
  node.expect(axis + b.size() <= a.size(), "a second input whose dimensions fit the first's",
              [&] { return to_text(b); });
  Shape aligned = b;
  aligned.resize(a.size() - axis, 1);
  return node.reshape(node.input(1), aligned);
}

// The result has the type of the base. Powers of integers are computed as doubles, and rounded unless the exponent is a
// float.
Value power(const NodeImport& node, const Value& base, const Value& exponent) {
  const DType dtype = base.type.dtype;
  if (is_float(dtype)) return node.add(Operator::pow, {base, node.cast(exponent, dtype)});
  Value value = node.add(Operator::pow, {node.cast(base, DType::f64), node.cast(exponent, DType::f64)});
  if (!is_float(exponent.type.dtype)) value = node.add(Operator::round, {value});
  return node.cast(value, dtype);
}

}  // namespace

void import_unary(NodeImport& node) { node.output(0, node.add(function_of(node).function, {node.input(0)})); }

void import_binary(NodeImport& node) {
  const Function& function = function_of(node);
  Value a = node.input(0), b = node.opset() < 7 ? second_of_opset_6(node) : node.input(1);
  if (function.function == Operator::pow) return node.output(0, power(node, a, b));
  if (function.swapped) std::swap(a, b);
  node.output(0, node.add(function.function, {a, b}));
}

void import_variadic(NodeImport& node) {
  const std::vector<Value> inputs = node.inputs();
  Value value = node.input(0);
  for (std::size_t i = 1; i < inputs.size(); ++i) value = node.add(function_of(node).function, {value, inputs[i]});
  if (node.op() == "Mean") {
    value = node.add(Operator::div, {value, node.constant(value.type.dtype, static_cast<double>(inputs.size()))});
  }
  node.output(0, value);
}

void import_where(NodeImport& node) {
  node.output(0, node.add(Operator::where, {node.input(0), node.input(1), node.input(2)}));
}

void import_cast(NodeImport& node) {
  node.ignore({"saturate", "round_mode"});  // of types that ferry lacks
  const std::int64_t number = node.integer("to");
  const std::optional<DType> to =
      number == static_cast<std::int32_t>(number) ? dtype_of(static_cast<std::int32_t>(number)) : std::nullopt;
  node.expect(to.has_value(), "a type that ferry has",
              [&] { return element_type_name(static_cast<std::int32_t>(number)); });
  node.output(0, node.cast(node.input(0), *to));
}

void import_cast_like(NodeImport& node) {
  node.ignore({"saturate", "round_mode"});
  node.output(0, node.cast(node.input(0), node.input(1).type.dtype));
}

void import_xor(NodeImport& node) {
  node.output(0, node.add(Operator::logical_not, {node.add(Operator::equal, {node.input(0), node.input(1)})}));
}

void import_is_nan(NodeImport& node) {
  const Value& x = node.input(0);
  node.output(0, node.add(Operator::logical_not, {node.add(Operator::equal, {x, x})}));
}

void import_reciprocal(NodeImport& node) {
  const Value& x = node.input(0);
  node.output(0, node.add(Operator::div, {node.constant(x.type.dtype, 1), x}));
}

}  // namespace ferry::graph::onnx
