// Elementwise functions that have a graph operator.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/stored_types.h"

namespace ferry::graph::onnx {
namespace {

struct Function {
  const char* op;
  Operator function;
  bool swapped = false;  // whether the two inputs are exchanged
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

// Returns the integers that an exponent is known to hold; nothing if one is another number, or below 0.
std::optional<std::vector<std::int64_t>> natural_numbers(const Value& exponent) {
  if (exponent.known == nullptr) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const double real : exponent.known->reals) {
    if (real != std::floor(real) || real < 0 || real > 0x1p53) return std::nullopt;
    numbers.push_back(static_cast<std::int64_t>(real));
  }
  for (const Size& size : exponent.known->integers) {
    if (!size.constant() || *size.constant() < 0) return std::nullopt;
    numbers.push_back(*size.constant());
  }
  return numbers;
}

// Returns a power of integers by a small number, as products modulo the size of the type.
Value small_power(const NodeOps& of, const Value& base, std::int64_t exponent) {
  if (exponent == 0) return of.filled(base.type, 1);
  Value result = base;
  for (std::int64_t i = 1; i < exponent; ++i) result = of.mul(result, base);
  return result;
}

// Returns powers of integers, modulo the size of their type, by multiplying the squares of the base for which the
// exponent has a bit. Exponents below 0 give what is left of the fraction: 1 for a base of 1, 1 or -1 for -1, otherwise
// 0.
Value integer_power(const NodeImport& node, const Value& base, const Value& exponent) {
  const NodeOps of(node);
  const DType dtype = base.type.dtype;
  const bool is_signed = is_signed_int(exponent.type.dtype);
  const auto bits = static_cast<std::int64_t>(dtype_bytes(exponent.type.dtype)) * 8 - (is_signed ? 1 : 0);
  const Shape common = node.broadcast_shape(base.type.shape, exponent.type.shape);
  const Value every_base = of.broadcast(base, common), every_exponent = of.broadcast(exponent, common);
  const auto has_bit = [&](const Value& number) { return of.equal(of.bit_and(number, 1), of.number(number, 1)); };
  const auto iteration = [&](const std::vector<Value>& states, const std::vector<Value>&) {
    const Value &result = states[0], &square = states[1], &rest = states[2];
    return LoopResults{
        {of.where(has_bit(rest), of.mul(result, square), result), of.mul(square, square), of.shift_right(rest, 1)}, {}};
  };
  const std::vector<Value> states = {of.filled({dtype, common}, 1), every_base, every_exponent};
  const Value power = node.add_loop(bits, states, {}, iteration)[0];
  if (!is_signed) return power;
  Value fraction = of.where(of.equal(base, 1), of.number(base, 1), of.number(base, 0));
  if (is_signed_int(dtype)) {
    const Value sign = of.where(has_bit(exponent), of.number(base, -1), of.number(base, 1));
    fraction = of.where(of.equal(base, -1), sign, fraction);
  }
  return of.where(of.less(exponent, 0), fraction, power);
}

// Returns the least type of floats that has all exponents, as far as these are known, and is no less than that of the
// base.
DType type_of_power(DType base, const Value& exponent) {
  const auto has_all = [&](DType dtype) {
    const auto has = [&](double number) { return rounded(dtype, number) == number || std::isnan(number); };
    const auto has_size = [&](const Size& size) {
      return size.constant() && has(static_cast<double>(*size.constant()));
    };
    return std::ranges::all_of(exponent.known->reals, has) && std::ranges::all_of(exponent.known->integers, has_size);
  };
  const DType own = exponent.type.dtype;
  if (exponent.known == nullptr) {
    const DType needed = is_float(own) ? own : dtype_bytes(own) <= 2 ? DType::f32 : DType::f64;
    if (needed == base || dtype_bytes(needed) < dtype_bytes(base)) return base;
    return dtype_bytes(needed) == dtype_bytes(base) ? DType::f32 : needed;
  }
  for (const DType dtype : {base, DType::f32})
    if (has_all(dtype)) return dtype_bytes(dtype) < dtype_bytes(base) ? base : dtype;
  return DType::f64;
}

Value real_power(const NodeImport& node, const Value& base, const Value& exponent) {
  const DType computed = type_of_power(base.type.dtype, exponent);
  return node.cast(node.add(Operator::pow, {node.cast(base, computed), node.cast(exponent, computed)}),
                   base.type.dtype);
}

// The result has the type of the base. Powers of integers are exact, unless a fraction is among the exponents: then
// they are computed as doubles, and rounded towards zero.
Value power(const NodeImport& node, const Value& base, const Value& exponent) {
  constexpr std::int64_t kMostProducts = 16;
  const DType dtype = base.type.dtype;
  const std::optional<std::vector<std::int64_t>> naturals = natural_numbers(exponent);
  if (is_float(dtype)) return real_power(node, base, exponent);
  if (naturals && naturals->size() == 1 && naturals->front() <= kMostProducts) {
    const Value power = small_power(NodeOps(node), base, naturals->front());
    // An exponent of higher rank gives the result more dimensions.
    return node.reshape(power, broadcast_shapes(base.type.shape, exponent.type.shape).value_or(base.type.shape));
  }
  if (!is_float(exponent.type.dtype)) return integer_power(node, base, exponent);
  if (naturals) return integer_power(node, base, node.cast(exponent, DType::i64));
  return node.cast(node.add(Operator::pow, {node.cast(base, DType::f64), node.cast(exponent, DType::f64)}), dtype);
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
  node.ignore({"saturate", "round_mode"});  // they concern types that ferry lacks
  const bool has_texts = node.stored_input(0) == nullptr && node.input(0).labels != nullptr;
  if (has_texts && !node.input(0).labels->are_columns) {
    constexpr std::int64_t kString = 8;  // as ONNX numbers types
    node.expect(node.integer("to") == kString, "texts that stay texts", [] { return "a cast to numbers"; });
    return node.output(0, node.input(0));
  }
  node.output(0, node.cast(decoded_input(node, 0), node.element_type("to")));
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

// log1p(x - 1 + sqrt(x - 1) * sqrt(x + 1)), with a root of each factor, so that no number below 1 has a result
void import_acosh(NodeImport& node) {
  const NodeOps of(node);
  const Value x = of.widened(node.input(0)), less = of.sub(x, 1);
  const Value small = of.log1p(of.add(less, of.mul(of.sqrt(less), of.sqrt(of.add(x, 1)))));
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
