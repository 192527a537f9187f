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
  // Returns `below` where x is negative, and x elsewhere.
  Value where_negative(const Value& below) const {
    return node_.add(Operator::where, {node_.add(Operator::less, {x, number(0)}), below, x});
  }
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
  const Value below = act.sub(act.of(Operator::exp, act.x), act.number(1));
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

// log(exp(x) + 1) = max(x, 0) + log(1 + exp(-|x|)), which does not overflow
void import_softplus(NodeImport& node) {
  const Activation act(node);
  const Value decay = act.of(Operator::exp, act.of(Operator::neg, act.of(Operator::abs, act.x)));
  const Value rest = act.of(Operator::log, act.add(decay, act.number(1)));
  node.output(0, act.add(act.of(Operator::relu, act.x), rest));
}

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

}  // namespace ferry::graph::onnx
