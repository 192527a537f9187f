// Scans. Those of more than a few iterations become loops of the network; otherwise the nodes of a body become nodes of
// the network, once for each iteration.
#include <algorithm>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/operators/iterations.h"

namespace ferry::graph::onnx {
namespace {

// Returns the value with one dimension at another place, and the others in their order.
Value moved(const NodeOps& of, const Value& value, std::size_t from, std::size_t to) {
  std::vector<std::size_t> order(value.type.shape.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), from);
  return of.transpose(value, order);
}

}  // namespace

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
