// Loops and branches. Conditions are known when the network is imported, and trip counts are too, or are sizes. Loops
// of more than a few iterations become loops of the network; otherwise the nodes of a body become nodes of the network,
// once for each iteration.
#include <algorithm>
#include <limits>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// Returns the integer that a tensor of one element is known to hold.
Size known_size(const NodeImport& node, const Value& value, const std::string& what) {
  if (value.known == nullptr || value.known->integers.size() != 1) {
    node.refuse(what + " to be known when the network is imported", "the computed tensor '" + value.name + "'");
  }
  return value.known->integers[0];
}

std::int64_t known_number(const NodeImport& node, const Value& value, const std::string& what) {
  const Size size = known_size(node, value, what);
  if (!size.constant()) node.refuse(what + " to be known when the network is imported", to_text(size));
  return *size.constant();
}

Value with_dimension(const NodeOps& of, const Value& value, std::size_t dimension) {
  Shape shape = value.type.shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dimension), 1);
  return of.reshape(value, shape);
}

// Returns the value with one dimension at another place, and the others in their order.
Value moved(const NodeOps& of, const Value& value, std::size_t from, std::size_t to) {
  std::vector<std::size_t> order(value.type.shape.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), from);
  return of.transpose(value, order);
}

// Appends the last outputs of an iteration to what earlier iterations gave, if the node gives them after its state.
void collect(const NodeImport& node, std::size_t states, std::vector<std::vector<Value>>& collected,
             const std::vector<Value>& outputs) {
  const std::size_t first = outputs.size() - collected.size();
  for (std::size_t i = 0; i < collected.size(); ++i) {
    if (node.has_output(states + i)) collected[i].push_back(outputs[first + i]);
  }
}

}  // namespace

void import_if(NodeImport& node) {
  const bool condition = known_number(node, node.input(0), "the condition") != 0;
  const ModelGraph &yes = node.body("then_branch"), &no = node.body("else_branch");
  const std::vector<Value> outputs = node.import_body(condition ? yes : no, {});
  node.expect(outputs.size() >= node.output_count(), "as many outputs as the branch has",
              [&] { return std::to_string(node.output_count()); });
  for (std::size_t i = 0; i < node.output_count(); ++i) node.output(i, outputs[i]);
}

namespace {

// A Loop with its inputs.
class LoopImport {
 public:
  explicit LoopImport(NodeImport& node) : node_(node), of_(node), body_(node.body("body")) {
    for (std::size_t i = 2; i < node.input_count(); ++i) states_.push_back(node.input(i));
    node.expect(body_.outputs.size() >= states_.size() + 1,
                "a body that gives the condition and each value of the state",
                [&] { return std::to_string(body_.outputs.size()) + " outputs"; });
    scanned_ = body_.outputs.size() - states_.size() - 1;
  }

  void run() {
    std::optional<Size> given;
    if (node_.has_input(0)) given = known_size(node_, node_.input(0), "the trip count");
    // A loop without iterations gives its state, and tensors without entries.
    if (given && !proves_less(-1, *given)) given = max(*given, 0);
    if (node_.has_input(1) && known_number(node_, node_.input(1), "the condition") == 0) given = 0;
    if (given && !node_.is_unrolled(*given) && repeat(*given)) return;
    unroll(given ? *given->constant() : std::numeric_limits<std::int64_t>::max());
  }

 private:
  std::vector<Value> iterate(const Value& iteration, const std::vector<Value>& states) const {
    std::vector<Value> inputs = {iteration, node_.constant(DType::boolean, 1)};
    inputs.insert(inputs.end(), states.begin(), states.end());
    return node_.import_body(body_, inputs);
  }

  // A loop that is given no condition ignores those of its body.
  bool continues(const std::vector<Value>& outputs) const {
    return !node_.has_input(1) || known_number(node_, outputs[0], "the condition") != 0;
  }

  bool repeat(const Size& count) {
    const auto results = node_.try_loop(
        count, states_, {{of_.iota(count)}}, [&](const std::vector<Value>& states, const std::vector<Value>& entries) {
          const std::vector<Value> outputs = iterate(entries[0], states);
          if (!continues(outputs)) node_.refuse("a condition that holds in all iterations", "one that does not");
          const auto end = outputs.begin() + 1 + static_cast<std::ptrdiff_t>(states.size());
          LoopResults of_iteration{{outputs.begin() + 1, end}, {}};
          for (std::size_t i = 0; i < scanned_; ++i)
            if (has_output(i)) of_iteration.entries.push_back({outputs[1 + states.size() + i]});
          return of_iteration;
        });
    if (!results) return false;
    for (std::size_t s = 0; s < states_.size(); ++s) node_.output(s, (*results)[s]);
    std::size_t next = states_.size();
    for (std::size_t i = 0; i < scanned_; ++i)
      if (has_output(i)) node_.output(states_.size() + i, (*results)[next++]);
    return true;
  }

  void unroll(std::int64_t count) {
    std::vector<Value> states = states_;
    std::vector<std::vector<Value>> scanned(scanned_);
    bool runs = true;
    for (std::int64_t i = 0; i < count && runs; ++i) {
      const std::vector<Value> outputs = iterate(of_.size(i), states);
      // The condition of the last iteration is not needed.
      if (i + 1 < count) runs = continues(outputs);
      std::copy_n(outputs.begin() + 1, states.size(), states.begin());
      collect(node_, states.size(), scanned, outputs);
    }
    for (std::size_t s = 0; s < states.size(); ++s) node_.output(s, states[s]);
    for (std::size_t i = 0; i < scanned_; ++i) {
      if (!has_output(i)) continue;
      for (Value& value : scanned[i]) value = with_dimension(of_, value, 0);
      node_.output(states.size() + i, of_.concat(scanned[i], 0));
    }
  }

  bool has_output(std::size_t scanned) const { return node_.has_output(states_.size() + scanned); }

  NodeImport& node_;
  const NodeOps of_;
  const ModelGraph& body_;
  std::vector<Value> states_;
  std::size_t scanned_ = 0;  // number of values that each iteration appends to an output
};

}  // namespace

void import_loop(NodeImport& node) { LoopImport(node).run(); }

// Since opset 9.
void import_scan(NodeImport& node) {
  const NodeOps of(node);
  const ModelGraph& body = node.body("body");
  const std::int64_t scans = node.integer("num_scan_inputs");
  node.expect(scans > 0 && static_cast<std::size_t>(scans) <= node.input_count(), "as many inputs as are scanned",
              [&] { return std::to_string(scans); });
  const auto scanned_inputs = static_cast<std::size_t>(scans), states = node.input_count() - scanned_inputs;
  node.expect(body.outputs.size() >= states, "a body that gives each value of the state",
              [&] { return std::to_string(body.outputs.size()) + " outputs"; });
  const std::size_t scanned_outputs = body.outputs.size() - states;
  const auto each = [&](const char* name, std::size_t number) {
    std::vector<std::int64_t> values = node.integers(name, std::vector<std::int64_t>(number, 0));
    node.expect(values.size() == number, std::string("an entry of ") + name + " for each tensor",
                [&] { return std::to_string(values.size()); });
    return values;
  };
  const std::vector<std::int64_t> axes = each("scan_input_axes", scanned_inputs),
                                  backwards = each("scan_input_directions", scanned_inputs),
                                  output_axes = each("scan_output_axes", scanned_outputs),
                                  output_backwards = each("scan_output_directions", scanned_outputs);
  std::vector<Value> state;
  for (std::size_t i = 0; i < states; ++i) state.push_back(node.input(i));
  std::vector<std::size_t> dimensions;
  std::optional<Size> count;
  for (std::size_t i = 0; i < scanned_inputs; ++i) {
    const Shape& shape = node.shape(states + i);
    dimensions.push_back(node.dimension(axes[i], shape.size()));
    node.expect(!count || *count == shape[dimensions.back()], "scanned dimensions of one size",
                [&] { return to_text(shape); });
    count = shape[dimensions.back()];
  }
  if (!node.is_unrolled(*count)) {
    std::vector<Scanned> tensors;
    for (std::size_t i = 0; i < scanned_inputs; ++i)
      tensors.push_back({moved(of, node.input(states + i), dimensions[i], 0), backwards[i] != 0});
    const auto results =
        node.try_loop(*count, state, tensors, [&](const std::vector<Value>& begun, const std::vector<Value>& entries) {
          std::vector<Value> inputs = begun;
          inputs.insert(inputs.end(), entries.begin(), entries.end());
          const std::vector<Value> outputs = node.import_body(body, inputs);
          const auto end = outputs.begin() + static_cast<std::ptrdiff_t>(states);
          LoopResults of_iteration{{outputs.begin(), end}, {}};
          for (std::size_t i = 0; i < scanned_outputs; ++i)
            of_iteration.entries.push_back({outputs[states + i], output_backwards[i] != 0});
          return of_iteration;
        });
    if (results) {
      for (std::size_t i = 0; i < states; ++i) node.output(i, (*results)[i]);
      for (std::size_t i = 0; i < scanned_outputs; ++i) {
        if (!node.has_output(states + i)) continue;
        const Value& whole = (*results)[states + i];
        const std::size_t dimension = node.dimension(output_axes[i], whole.type.shape.size());
        node.output(states + i, moved(of, whole, 0, dimension));
      }
      return;
    }
  }
  const std::int64_t steps = *count->constant();
  std::vector<std::vector<Value>> scanned(scanned_outputs);
  for (std::int64_t step = 0; step < steps; ++step) {
    std::vector<Value> inputs = state;
    for (std::size_t i = 0; i < scanned_inputs; ++i) {
      const Value& input = node.input(states + i);
      const std::int64_t at = backwards[i] != 0 ? steps - 1 - step : step;
      const Value one = of.slice(input, dimensions[i], at, 1);
      Shape shape = input.type.shape;
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dimensions[i]));
      inputs.push_back(of.reshape(one, shape));
    }
    const std::vector<Value> outputs = node.import_body(body, inputs);
    std::copy_n(outputs.begin(), states, state.begin());
    collect(node, states, scanned, outputs);
  }
  for (std::size_t i = 0; i < states; ++i) node.output(i, state[i]);
  for (std::size_t i = 0; i < scanned_outputs; ++i) {
    if (!node.has_output(states + i) || scanned[i].empty()) continue;
    if (output_backwards[i] != 0) std::reverse(scanned[i].begin(), scanned[i].end());
    const std::size_t dimension = node.dimension(output_axes[i], scanned[i][0].type.shape.size() + 1);
    for (Value& value : scanned[i]) value = with_dimension(of, value, dimension);
    node.output(states + i, of.concat(scanned[i], dimension));
  }
}

}  // namespace ferry::graph::onnx
