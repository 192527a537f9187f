// Activations that are built from elementwise functions.
#include <cmath>
#include <numbers>

#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// Builds an expression of x, in its type.
class Activation {
 public:
  explicit Activation(const NodeImport& node) : node_(node), x(node.input(0)) {}

  Value number(double value) const { return node_.constant(x.type.dtype, value); }
  Value add(const Value& a, const Value& b) const { return node_.add(Operator::add, {a, b}); }
  Value sub(const Value& a, const Value& b) const { return node_.add(Operator::sub, {a, b}); }
  Value mul(const Value& a, const Value& b) const { return node_.add(Operator::mul, {a, b}); }
  Value div(const Value& a, const Value& b) const { return node_.add(Operator::div, {a, b}); }
  Value of(Operator function, const Value& a) const { return node_.add(function, {a}); }
  Value at_least(const Value& a, const Value& bound) const {
    const bool is_zero = bound.known != nullptr && bound.known->reals.size() == 1 && bound.known->reals[0] == 0;
    return is_zero ? of(Operator::relu, a) : node_.add(Operator::maximum, {a, bound});
  }
  Value at_most(const Value& a, const Value& bound) const { return node_.add(Operator::minimum, {a, bound}); }
  Value choose(const Value& condition, const Value& yes, const Value& no) const {
    return node_.add(Operator::where, {condition, yes, no});
  }
  Value less(const Value& a, const Value& b) const { return node_.add(Operator::less, {a, b}); }
  // log(exp(x) + 1) = max(x, 0) + log(1 + exp(-|x|)), which does not overflow
  Value softplus() const {
    const Value decay = of(Operator::exp, of(Operator::neg, of(Operator::abs, x)));
    return add(of(Operator::relu, x), of(Operator::log1p, decay));
  }
  // Returns `below` where x is negative, and x elsewhere.
  Value where_negative(const Value& below) const { return choose(less(x, number(0)), below, x); }
  // clamp(alpha * x + beta, 0, 1)
  Value hard_sigmoid(double alpha, double beta) const {
    return at_most(at_least(add(mul(x, number(alpha)), number(beta)), number(0)), number(1));
  }

 private:
  const NodeImport& node_;

 public:
  const Value& x;
};

}  // namespace

void import_clip(NodeImport& node) {
  const Activation act(node);
  Value value = act.x;
  if (node.opset() < 11) {
    if (node.has("min")) value = act.at_least(value, act.number(node.real("min")));
    if (node.has("max")) value = act.at_most(value, act.number(node.real("max")));
  } else {
    for (const std::size_t i : {1, 2}) {
      node.expect(!node.has_input(i) || element_count(node.shape(i)).constant() == 1, "scalars as bounds",
                  [&] { return to_text(node.shape(i)); });
    }
    if (node.has_input(1)) value = act.at_least(value, node.reshape(node.input(1), {}));
    if (node.has_input(2)) value = act.at_most(value, node.reshape(node.input(2), {}));
  }
  node.output(0, value);
}

void import_elu(NodeImport& node) {
  const Activation act(node);
  const Value below = act.of(Operator::expm1, act.x);
  node.output(0, act.where_negative(act.mul(below, act.number(node.real("alpha", 1)))));
}

// x / 2 * (1 + erf(x / sqrt(2))), or with a hyperbolic tangent that comes close to it
void import_gelu(NodeImport& node) {
  const Activation act(node);
  const std::string approximate = node.text("approximate", "none");
  node.expect(approximate == "none" || approximate == "tanh", "approximate to be none or tanh",
              [&] { return approximate; });
  Value inner;
  if (approximate == "none") {
    inner = act.of(Operator::erf, act.mul(act.x, act.number(1 / std::numbers::sqrt2)));
  } else {
    const Value cube = act.mul(act.mul(act.x, act.x), act.x);
    const Value sum = act.add(act.x, act.mul(cube, act.number(0.044715)));
    inner = act.of(Operator::tanh, act.mul(sum, act.number(std::sqrt(2 / std::numbers::pi))));
  }
  const Value half = act.mul(act.x, act.number(0.5));
  node.output(0, act.mul(half, act.add(inner, act.number(1))));
}

void import_hard_sigmoid(NodeImport& node) {
  const Activation act(node);
  const double alpha = node.real("alpha", 0.2), beta = node.real("beta", 0.5);
  node.output(0, act.hard_sigmoid(alpha, beta));
}

void import_hard_swish(NodeImport& node) {
  const Activation act(node);
  node.output(0, act.mul(act.x, act.hard_sigmoid(1.0 / 6, 0.5)));
}

void import_leaky_relu(NodeImport& node) {
  const Activation act(node);
  node.output(0, act.where_negative(act.mul(act.x, act.number(node.real("alpha", 0.01)))));
}

void import_prelu(NodeImport& node) {
  const Activation act(node);
  Value slope = node.input(1);
  const Shape& x = act.x.type.shape;
  if (node.opset() < 7 && slope.type.shape.size() == 1 && slope.type.shape[0].constant() != 1 && x.size() > 2) {
    // Before opset 7 there is one for each channel.
    Shape channels(x.size() - 1, 1);
    channels[0] = slope.type.shape[0];
    slope = node.reshape(slope, channels);
  }
  const Value below = act.mul(act.x, slope);
  node.expect(below.type.shape == x, "a slope that broadcasts to " + to_text(x),
              [&] { return to_text(slope.type.shape); });
  node.output(0, act.where_negative(below));
}

void import_mish(NodeImport& node) {
  const Activation act(node);
  node.output(0, act.mul(act.x, act.of(Operator::tanh, act.softplus())));
}

// gamma * (x where x is positive, alpha * (exp(x) - 1) elsewhere)
void import_selu(NodeImport& node) {
  const Activation act(node);
  const double alpha = node.real("alpha", 1.67326319217681884765625),
               gamma = node.real("gamma", 1.05070102214813232421875);
  const Value below = act.mul(act.of(Operator::expm1, act.x), act.number(alpha));
  node.output(0, act.mul(act.where_negative(below), act.number(gamma)));
}

// x where x is positive, alpha * (exp(x / alpha) - 1) elsewhere
void import_celu(NodeImport& node) {
  const Activation act(node);
  const double alpha = node.real("alpha", 1);
  const Value power = act.of(Operator::expm1, act.div(act.x, act.number(alpha)));
  node.output(0, act.where_negative(act.mul(power, act.number(alpha))));
}

void import_thresholded_relu(NodeImport& node) {
  const Activation act(node);
  node.output(0, act.choose(act.less(act.number(node.real("alpha", 1)), act.x), act.x, act.number(0)));
}

void import_shrink(NodeImport& node) {
  const Activation act(node);
  const double bias = node.real("bias", 0), lambda = node.real("lambd", 0.5);
  const Value above = act.sub(act.x, act.number(bias)), below = act.add(act.x, act.number(bias));
  const Value rest = act.choose(act.less(act.number(lambda), act.x), above, act.number(0));
  node.output(0, act.choose(act.less(act.x, act.number(-lambda)), below, rest));
}

void import_sign(NodeImport& node) {
  const Activation act(node);
  const Value is_positive = act.less(act.number(0), act.x);
  if (is_unsigned_int(act.x.type.dtype)) return node.output(0, node.cast(is_positive, act.x.type.dtype));
  // What is neither positive nor negative is 0, or no number and stays so.
  const Value rest = act.choose(is_positive, act.number(1), act.x);
  node.output(0, act.choose(act.less(act.x, act.number(0)), act.number(-1), rest));
}

void import_softplus(NodeImport& node) { node.output(0, Activation(node).softplus()); }

void import_softsign(NodeImport& node) {
  const Activation act(node);
  node.output(0, act.div(act.x, act.add(act.of(Operator::abs, act.x), act.number(1))));
}

void import_swish(NodeImport& node) {
  const Activation act(node);
  const double alpha = node.real("alpha", 1);
  const Value scaled = alpha == 1 ? act.x : act.mul(act.x, act.number(alpha));
  node.output(0, act.mul(act.x, act.of(Operator::sigmoid, scaled)));
}

// The swish of the first input times the second.
void import_swiglu(NodeImport& node) {
  const Activation act(node);
  const double alpha = node.real("alpha", 1);
  const Value scaled = alpha == 1 ? act.x : act.mul(act.x, act.number(alpha));
  node.output(0, act.mul(act.mul(act.x, act.of(Operator::sigmoid, scaled)), node.input(1)));
}

}  // namespace ferry::graph::onnx
