// Loops and branches whose trip counts and conditions are known when the network is imported. The nodes of their bodies
// become nodes of the network, once for each iteration.
#include <algorithm>
#include <limits>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// Returns the number that a tensor of one element is known to hold.
std::int64_t known_number(const NodeImport& node, const Value& value, const std::string& what) {
  const bool is_known = value.known != nullptr && value.known->integers.size() == 1;
  const std::optional<std::int64_t> number = is_known ? value.known->integers[0].constant() : std::nullopt;
  if (!number) {
    node.refuse(what + " to be known when the network is imported", "the computed tensor '" + value.name + "'");
  }
  return *number;
}

Value with_dimension(const NodeOps& of, const Value& value, std::size_t dimension) {
  Shape shape = value.type.shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dimension), 1);
  return of.reshape(value, shape);
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

void import_loop(NodeImport& node) {
  const NodeOps of(node);
  const ModelGraph& body = node.body("body");
  const std::int64_t count = node.has_input(0) ? known_number(node, node.input(0), "the trip count")
                                               : std::numeric_limits<std::int64_t>::max();
  bool continues = !node.has_input(1) || known_number(node, node.input(1), "the condition") != 0;
  std::vector<Value> state;
  for (std::size_t i = 2; i < node.input_count(); ++i) state.push_back(node.input(i));
  node.expect(body.outputs.size() >= state.size() + 1, "a body that gives the condition and each value of the state",
              [&] { return std::to_string(body.outputs.size()) + " outputs"; });
  std::vector<std::vector<Value>> scanned(body.outputs.size() - state.size() - 1);
  for (std::int64_t i = 0; i < count && continues; ++i) {
    std::vector<Value> inputs = {of.size(i), node.constant(DType::boolean, 1)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    const std::vector<Value> outputs = node.import_body(body, inputs);
    // The condition of the last iteration is not needed, and a loop that is given none ignores those of its body.
    if (node.has_input(1) && i + 1 < count) continues = known_number(node, outputs[0], "the condition") != 0;
    std::copy_n(outputs.begin() + 1, state.size(), state.begin());
    collect(node, state.size(), scanned, outputs);
  }
  for (std::size_t i = 0; i < state.size(); ++i) node.output(i, state[i]);
  for (std::size_t i = 0; i < scanned.size(); ++i) {
    if (!node.has_output(state.size() + i)) continue;
    for (Value& value : scanned[i]) value = with_dimension(of, value, 0);
    node.output(state.size() + i, of.concat(scanned[i], 0));
  }
}

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
  std::optional<std::int64_t> count;
  for (std::size_t i = 0; i < scanned_inputs; ++i) {
    const Shape& shape = node.shape(states + i);
    dimensions.push_back(node.dimension(axes[i], shape.size()));
    const std::optional<std::int64_t> size = shape[dimensions.back()].constant();
    node.expect(size.has_value() && (!count || count == size), "scanned dimensions of one known size",
                [&] { return to_text(shape); });
    count = size;
  }
  std::vector<std::vector<Value>> scanned(scanned_outputs);
  for (std::int64_t step = 0; step < *count; ++step) {
    std::vector<Value> inputs = state;
    for (std::size_t i = 0; i < scanned_inputs; ++i) {
      const Value& input = node.input(states + i);
      const std::int64_t at = backwards[i] != 0 ? *count - 1 - step : step;
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
