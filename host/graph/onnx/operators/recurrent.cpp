// Recurrent networks: the nodes of one step are repeated by a loop, or become nodes of the network once for each of a
// few steps. Products with the input are one product for all steps.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/quantized.h"

namespace ferry::graph::onnx {
namespace {

// An activation with its parameters, if it has them.
struct Activation {
  std::string name;
  std::optional<double> alpha = {}, beta = {};
};

Value apply(const NodeImport& node, const NodeOps& of, const Activation& function, const Value& x) {
  const std::string& name = function.name;
  const double alpha = function.alpha.value_or(0), beta = function.beta.value_or(0);
  if (name == "Sigmoid") return of.sigmoid(x);
  if (name == "Tanh") return of.tanh(x);
  if (name == "Relu") return of.relu(x);
  if (name == "Affine") return of.add(of.mul(x, alpha), beta);
  if (name == "LeakyRelu") return of.where(of.less(x, 0), of.mul(x, alpha), x);
  if (name == "ThresholdedRelu") return of.where(of.less(x, alpha), of.number(x, 0), x);
  if (name == "ScaledTanh") return of.mul(of.tanh(of.mul(x, beta)), alpha);
  if (name == "HardSigmoid") return of.clamp(of.add(of.mul(x, alpha), beta), 0, 1);
  if (name == "Elu") return of.where(of.less(x, 0), of.mul(of.expm1(x), alpha), x);
  if (name == "Softsign") return of.div(x, of.add(of.abs(x), 1));
  if (name == "Softplus") return of.add(of.relu(x), of.log1p(of.exp(of.neg(of.abs(x)))));
  node.refuse("an activation that ONNX defines", name);
}

// Returns the name as ONNX spells it, whatever the case of its letters.
std::string spelled(const std::string& name) {
  const auto is_same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  for (const char* known : {"Sigmoid", "Tanh", "Relu", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
                            "HardSigmoid", "Elu", "Softsign", "Softplus"})
    if (std::ranges::equal(name, std::string_view(known), is_same)) return known;
  return name;
}

Activation with_defaults(const std::string& name) {
  if (name == "Affine") return {name, 1, 0};
  if (name == "LeakyRelu") return {name, 0.01};
  if (name == "ThresholdedRelu" || name == "Elu") return {name, 1};
  if (name == "ScaledTanh") return {name, 1, 1};
  if (name == "HardSigmoid") return {name, 0.2, 0.5};
  return {name};
}

// The weights of the input and of the state: floats as ONNX's operators have them, or integers with a scale for each
// gate or for all, transposed, as ONNX Runtime's.
enum class Weights { floats, integers };

class Recurrence {
 public:
  explicit Recurrence(NodeImport& node, Weights kind = Weights::floats) : node_(node), of_(node), kind_(kind) {}

  void run(std::size_t gates, const std::vector<std::string>& activations) {
    gates_ = gates;
    is_batch_first_ = node_.opset() >= 14 && node_.flag("layout", false);
    node_.ignore({"layout", "hidden_size", "output_sequence"});
    x_ = is_batch_first_ ? of_.transpose(node_.input(0), {1, 0, 2}) : node_.input(0);
    node_.expect(x_.type.shape.size() == 3, "an input of rank 3", [&] { return to_text(x_.type); });
    steps_ = x_.type.shape[0];
    node_.expect(!proves_less(steps_, 0), "0 steps or more", [&] { return to_text(x_.type.shape); });
    batch_ = x_.type.shape[1];
    for (const std::size_t i : {5, 6}) {
      if (i == 6 && gates != 4) continue;
      if (node_.has_input(i) && node_.shape(i).size() == 3)
        batch_ = node_.equal("the sequences", batch_, "the first states", node_.shape(i)[is_batch_first_ ? 0 : 1]);
    }
    x_ = of_.reshape(x_, {steps_, batch_, x_.type.shape[2]});
    for (const std::size_t i : {1, 2}) {
      node_.expect(node_.shape(i).size() == 3, "weights of rank 3", [&] { return to_text(node_.shape(i)); });
    }
    hidden_ = node_.shape(2)[kind_ == Weights::floats ? 2 : 1];
    clip_ = node_.real("clip", 0);
    const std::string direction = node_.text("direction", "forward");
    node_.expect(direction == "forward" || direction == "reverse" || direction == "bidirectional",
                 "the direction forward, reverse or bidirectional", [&] { return direction; });
    const std::size_t directions = direction == "bidirectional" ? 2 : 1;
    node_.expect(node_.shape(1)[0] == Size(static_cast<std::int64_t>(directions)), "weights for each direction",
                 [&] { return to_text(node_.shape(1)); });
    read_activations(activations, directions);
    std::vector<Value> all, hidden, cells;
    for (std::size_t d = 0; d < directions; ++d) {
      direction_ = d;
      all.push_back(of_.reshape(run_direction(d == 1 || direction == "reverse"), {steps_, 1, batch_, hidden_}));
      hidden.push_back(of_.reshape(h_, {1, batch_, hidden_}));
      if (gates_ == 4) cells.push_back(of_.reshape(c_, {1, batch_, hidden_}));
    }
    const auto last = [&](const std::vector<Value>& parts) {
      const Value state = of_.concat(parts, 0);
      return is_batch_first_ ? of_.transpose(state, {1, 0, 2}) : state;
    };
    const Value y = of_.concat(all, 1);
    node_.output(0, is_batch_first_ ? of_.transpose(y, {2, 0, 1, 3}) : y);
    node_.output(1, last(hidden));
    if (gates_ == 4) node_.output(2, last(cells));
  }

 private:
  void read_activations(const std::vector<std::string>& defaults, std::size_t directions) {
    std::vector<std::string> names = node_.texts("activations");
    if (names.empty()) {
      for (std::size_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
    }
    node_.expect(names.size() == defaults.size() * directions, "an activation for each function and direction",
                 [&] { return std::to_string(names.size()); });
    for (const std::string& name : names) activations_.push_back(with_defaults(spelled(name)));
    give_parameters("activation_alpha", &Activation::alpha);
    give_parameters("activation_beta", &Activation::beta);
    functions_ = defaults.size();
  }
  // Gives the values of an attribute to the functions that have the parameter, in their order.
  void give_parameters(const char* attribute, std::optional<double> Activation::* parameter) {
    const std::vector<double> values = node_.reals(attribute);
    std::size_t given = 0;
    for (Activation& function : activations_) {
      if (given < values.size() && (function.*parameter).has_value()) function.*parameter = values[given++];
    }
    node_.expect(given == values.size(), "a value of " + std::string(attribute) + " for functions that have one alone",
                 [&] { return std::to_string(values.size()) + " for " + std::to_string(given); });
  }

  // Returns this direction's part of an input.
  Value part(std::size_t input) const {
    const Value& whole = node_.input(input);
    const Value own = of_.slice(whole, 0, static_cast<std::int64_t>(direction_), 1);
    const Shape& shape = whole.type.shape;
    return of_.reshape(own, Shape(shape.begin() + 1, shape.end()));
  }
  struct Factor {
    Value weights;
    std::optional<Value> scale;  // multiplies integers less their zero point
  };
  // Returns this direction's weights. Integers have a scale and a zero point from the input `scale` on.
  Factor weights_of(std::size_t input, std::size_t scale) const {
    if (kind_ == Weights::floats) return {part(input), {}};
    expect_narrow(node_, node_.input(input).type.dtype);
    Value weights = node_.cast(part(input), DType::i32);
    if (node_.has_input(scale + 1)) weights = of_.sub(weights, along(node_, node_.cast(own(scale + 1), DType::i32), 1));
    return {weights, along(node_, node_.cast(own(scale), DType::f32), 1)};
  }
  // Returns this direction's scale or zero point: one, or one for each column.
  Value own(std::size_t input) const {
    const Shape& shape = node_.shape(input);
    return shape.empty() ? node_.input(input) : part(input);
  }
  // Returns x times the weights, of which integers are multiplied by x rounded to bytes with one scale.
  Value product(const Value& x, const Factor& factor) const {
    if (!factor.scale) return of_.matmul(x, factor.weights, {false, true});
    const DynamicallyQuantized bytes = dynamically_quantized(node_, x);
    const Value left = of_.sub(node_.cast(bytes.integers, DType::i32), node_.cast(bytes.zero_point, DType::i32));
    const Value sums = of_.matmul(left, factor.weights);
    return of_.mul(node_.cast(sums, DType::f32), of_.mul(bytes.scale, *factor.scale));
  }
  // Returns some gates of a tensor whose last dimension has all of them.
  Value gates_of(const Value& x, std::size_t first, std::size_t count) const {
    return of_.slice(x, x.type.shape.size() - 1, hidden_ * static_cast<std::int64_t>(first),
                     hidden_ * static_cast<std::int64_t>(count));
  }
  Value initial(std::size_t input) const {
    if (!node_.has_input(input)) return of_.filled({x_.type.dtype, {batch_, hidden_}}, 0);
    const Value given =
        is_batch_first_ ? of_.slice(node_.input(input), 1, static_cast<std::int64_t>(direction_), 1) : part(input);
    return of_.reshape(given, {batch_, hidden_});
  }
  Value activated(std::size_t function, const Value& x) const {
    const Value limited = clip_ > 0 ? of_.clamp(x, -clip_, clip_) : x;
    return apply(node_, of_, activations_[direction_ * functions_ + function], limited);
  }

  // Returns the states after each step, and leaves the last in h_ and c_.
  Value run_direction(bool is_backwards) {
    const Value from_input = begin_direction();
    std::vector<Scanned> tensors = {{from_input, is_backwards}};
    if (node_.has_input(4)) tensors.push_back({of_.iota(steps_), is_backwards});
    if (node_.is_unrolled(steps_)) return unroll(tensors);
    const auto iteration = [&](const std::vector<Value>& states, const std::vector<Value>& entries) {
      set_states(states);
      const Value y = step_of(entries);
      return LoopResults{states_of_step(), {{y, is_backwards}}};
    };
    const std::vector<Value> results = node_.add_loop(steps_, states_of_step(), tensors, iteration);
    set_states(results);
    return results.back();
  }

  Value unroll(const std::vector<Scanned>& tensors) {
    const std::int64_t steps = *steps_.constant();
    std::vector<Value> outputs(static_cast<std::size_t>(steps));
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t t = tensors[0].is_backwards ? steps - 1 - step : step;
      std::vector<Value> entries;
      for (const Scanned& tensor : tensors) {
        const Shape& shape = tensor.value.type.shape;
        entries.push_back(of_.reshape(of_.slice(tensor.value, 0, t, 1), Shape(shape.begin() + 1, shape.end())));
      }
      outputs[static_cast<std::size_t>(t)] = of_.reshape(step_of(entries), {1, batch_, hidden_});
    }
    return of_.concat(outputs, 0);
  }

  std::vector<Value> states_of_step() const { return gates_ == 4 ? std::vector{h_, c_} : std::vector{h_}; }
  void set_states(const std::vector<Value>& states) {
    h_ = states[0];
    if (gates_ == 4) c_ = states[1];
  }

  // Sets the weights and the first states. Returns the products with the input, for all steps.
  Value begin_direction() {
    const auto gates = static_cast<std::int64_t>(gates_);
    const Size all = hidden_ * gates;
    Value from_input = product(x_, weights_of(1, 8));
    weights_ = weights_of(2, 10);
    recurrent_bias_ = {};
    if (node_.has_input(3)) {
      const Value bias = part(3);
      const Value own = of_.slice(bias, 0, 0, all), recurrent = of_.slice(bias, 0, all, all);
      // The GRU may multiply the product with the state, and the bias of it, by a gate.
      if (gates_ == 3) recurrent_bias_ = recurrent;
      from_input = of_.add(from_input, gates_ == 3 ? own : of_.add(own, recurrent));
    }
    h_ = initial(5);
    if (gates_ == 4) {
      c_ = initial(6);
      if (node_.has_input(7)) peepholes_ = part(7);
    }
    return from_input;
  }

  // From the products with the input of a step, and its number, returns the state after it; 0 for sequences that end
  // before this step, which keep their state.
  Value step_of(const std::vector<Value>& entries) {
    const Value h = h_, c = c_;
    advance(entries[0]);
    if (!node_.has_input(4)) return h_;
    const Value lengths = of_.reshape(node_.cast(node_.input(4), DType::i64), {batch_, 1});
    const Value runs = of_.less(entries[1], lengths);
    const Value y = of_.where(runs, h_, of_.number(h_, 0));
    h_ = of_.where(runs, h_, h);
    if (gates_ == 4) c_ = of_.where(runs, c_, c);
    return y;
  }

  void advance(const Value& own) {
    if (gates_ == 4) {
      lstm(of_.add(own, product(h_, weights_)));
    } else if (gates_ == 3) {
      gru(own);
    } else {
      h_ = activated(0, of_.add(own, product(h_, weights_)));
    }
  }

  // Gates: input, output, forget, cell.
  void lstm(const Value& all) {
    const auto peeped = [&](const Value& gate, std::size_t which, const Value& cell) {
      return peepholes_ ? of_.add(gate, of_.mul(gates_of(*peepholes_, which, 1), cell)) : gate;
    };
    const Value input = activated(0, peeped(gates_of(all, 0, 1), 0, c_));
    const Value forget =
        node_.flag("input_forget", false) ? of_.sub(1, input) : activated(0, peeped(gates_of(all, 2, 1), 2, c_));
    const Value cell = activated(1, gates_of(all, 3, 1));
    c_ = of_.add(of_.mul(forget, c_), of_.mul(input, cell));
    const Value output = activated(0, peeped(gates_of(all, 1, 1), 1, c_));
    h_ = of_.mul(output, apply(node_, of_, activations_[direction_ * functions_ + 2], c_));
  }

  // Gates: update, reset, hidden.
  void gru(const Value& own) {
    const bool resets_product = node_.flag("linear_before_reset", false);
    const auto gates = [&](const Value& state, std::size_t first, std::size_t count) {
      const Value rows = of_.slice(weights_.weights, 0, hidden_ * static_cast<std::int64_t>(first),
                                   hidden_ * static_cast<std::int64_t>(count));
      const Value result = of_.matmul(state, rows, {false, true});
      return recurrent_bias_ ? of_.add(result, gates_of(*recurrent_bias_, first, count)) : result;
    };
    const Value both = of_.add(gates_of(own, 0, 2), gates(h_, 0, 2));
    const Value update = activated(0, gates_of(both, 0, 1)), reset = activated(0, gates_of(both, 1, 1));
    const Value hidden = resets_product ? of_.mul(reset, gates(h_, 2, 1)) : gates(of_.mul(reset, h_), 2, 1);
    const Value next = activated(1, of_.add(gates_of(own, 2, 1), hidden));
    h_ = of_.add(of_.mul(of_.sub(1, update), next), of_.mul(update, h_));
  }

  NodeImport& node_;
  NodeOps of_;
  Weights kind_;
  std::size_t gates_ = 1, functions_ = 1, direction_ = 0;
  bool is_batch_first_ = false;
  Value x_;
  Size steps_, batch_, hidden_;
  double clip_ = 0;
  std::vector<Activation> activations_;
  // The weights and states of one direction.
  Factor weights_;
  Value h_, c_;
  std::optional<Value> recurrent_bias_, peepholes_;
};

}  // namespace

void import_rnn(NodeImport& node) { Recurrence(node).run(1, {"Tanh"}); }

void import_gru(NodeImport& node) {
  node.ignore({"linear_before_reset"});
  Recurrence(node).run(3, {"Sigmoid", "Tanh"});
}

void import_lstm(NodeImport& node) {
  node.ignore({"input_forget"});
  Recurrence(node).run(4, {"Sigmoid", "Tanh", "Tanh"});
}

void import_dynamic_quantize_lstm(NodeImport& node) {
  node.ignore({"input_forget"});
  Recurrence(node, Weights::integers).run(4, {"Sigmoid", "Tanh", "Tanh"});
}

}  // namespace ferry::graph::onnx
