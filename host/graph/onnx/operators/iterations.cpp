#include "host/graph/onnx/operators/iterations.h"

namespace ferry::graph::onnx {

std::optional<Size> known_size(const Value& value) {
  if (value.known == nullptr || value.known->integers.size() != 1) return std::nullopt;
  return value.known->integers[0];
}

std::optional<std::int64_t> known_number(const Value& value) {
  const std::optional<Size> size = known_size(value);
  return size ? size->constant() : std::nullopt;
}

Value with_dimension(const NodeOps& of, const Value& value, std::size_t dimension) {
  Shape shape = value.type.shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dimension), 1);
  return of.reshape(value, shape);
}

void collect(const NodeImport& node, std::size_t states, std::vector<std::vector<Value>>& collected,
             const std::vector<Value>& outputs) {
  const std::size_t first = outputs.size() - collected.size();
  for (std::size_t i = 0; i < collected.size(); ++i) {
    if (node.has_output(states + i)) collected[i].push_back(outputs[first + i]);
  }
}

}  // namespace ferry::graph::onnx
