// Elementwise functions that have a graph operator.
#include <algorithm>
#include <iterator>
#include <limits>
#include <numbers>

#include "host/graph/onnx/node_ops.h"
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
    {"Acos", Operator::acos},
    {"Asin", Operator::asin},
    {"Atan", Operator::atan},
    {"BitwiseNot", Operator::bit_not},
    {"Ceil", Operator::ceil},
    {"Cos", Operator::cos},
    {"Cosh", Operator::cosh},
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
    {"Sinh", Operator::sinh},
    {"Sqrt", Operator::sqrt},
    {"Tan", Operator::tan},
    {"Tanh", Operator::tanh},
    {"Add", Operator::add},
    {"And", Operator::logical_and},
    {"BitwiseAnd", Operator::bit_and},
    {"BitwiseOr", Operator::bit_or},
    {"BitwiseXor", Operator::bit_xor},
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
  node.output(0, node.cast(node.input(0), node.element_type("to")));
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

void import_mod(NodeImport& node) {
  const Value &a = node.input(0), &b = node.input(1);
  const bool of_dividend = node.flag("fmod", false);
  node.output(0, node.add(of_dividend ? Operator::remainder : Operator::modulo, {a, b}));
}

void import_bit_shift(NodeImport& node) {
  const std::string direction = node.text("direction", "");
  node.expect(direction == "LEFT" || direction == "RIGHT", "the direction LEFT or RIGHT", [&] { return direction; });
  const Operator shift = direction == "LEFT" ? Operator::shift_left : Operator::shift_right;
  node.output(0, node.add(shift, {node.input(0), node.input(1)}));
}

void import_is_inf(NodeImport& node) {
  const Value& x = node.input(0);
  node.expect(is_float(x.type.dtype), "floats", [&] { return dtype_name(x.type.dtype); });
  const bool positive = node.flag("detect_positive", true), negative = node.flag("detect_negative", true);
  const double infinity = std::numeric_limits<double>::infinity();
  if (!positive && !negative) {
    return node.output(
        0, node.add(Operator::broadcast, {node.constant(DType::boolean, 0)}, BroadcastAttributes{x.type.shape}));
  }
  const Value checked = positive && negative ? node.add(Operator::abs, {x}) : x;
  node.output(0, node.add(Operator::equal, {checked, node.constant(x.type.dtype, positive ? infinity : -infinity)}));
}

namespace {

// Above this the squares of the type's numbers hide the 1 beside them.
double large(const Value& x) { return x.type.dtype == DType::f64 ? 0x1p28 : 2048; }

}  // namespace

// log1p(r + r * r / (1 + sqrt(1 + r * r))) for the absolute value r, with the sign of x
void import_asinh(NodeImport& node) {
  const NodeOps of(node);
  const Value x = of.widened(node.input(0)), r = of.abs(x), square = of.mul(r, r);
  const Value divisor = of.add(of.sqrt(of.add(square, 1)), 1);
  const Value small = of.log1p(of.add(r, of.div(square, divisor)));
  const Value size = of.where(of.less(r, large(x)), small, of.add(of.log(r), std::numbers::ln2));
  node.output(0, node.cast(of.where(of.less(x, 0), of.neg(size), size), node.input(0).type.dtype));
}

// log1p(x - 1 + sqrt((x - 1) * (x + 1)))
void import_acosh(NodeImport& node) {
  const NodeOps of(node);
  const Value x = of.widened(node.input(0)), less = of.sub(x, 1);
  const Value small = of.log1p(of.add(less, of.sqrt(of.mul(less, of.add(x, 1)))));
  const Value y = of.where(of.less(x, large(x)), small, of.add(of.log(x), std::numbers::ln2));
  node.output(0, node.cast(y, node.input(0).type.dtype));
}

// log1p(2 * r / (1 - r)) / 2 for the absolute value r, with the sign of x
void import_atanh(NodeImport& node) {
  const NodeOps of(node);
  const Value x = of.widened(node.input(0)), r = of.abs(x);
  const Value size = of.mul(of.log1p(of.div(of.mul(r, 2), of.sub(1, r))), 0.5);
  node.output(0, node.cast(of.where(of.less(x, 0), of.neg(size), size), node.input(0).type.dtype));
}

}  // namespace ferry::graph::onnx
