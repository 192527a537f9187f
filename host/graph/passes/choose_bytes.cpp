#include "host/graph/passes/choose_bytes.h"

#include "host/graph/operator_kind.h"
#include "host/graph/passes/choose_dots.h"
#include "host/graph/passes/integer_weights.h"
#include "host/graph/prune.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace ferry::graph {
namespace {

constexpr std::int16_t kMiddle = 128;

// The place of the zero point of a scaled or unscaled product; nothing for other nodes.
std::optional<std::size_t> zero_point_of(const Node& node) {
  if (const auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes))
    return zero_point_input(conv->is_scaled);
  if (const auto* matmul = std::get_if<QuantizedMatmulAttributes>(&node.attributes))
    return zero_point_input(matmul->is_scaled);
  return std::nullopt;
}

class ByteChooser {
 public:
  ByteChooser(const Graph& graph, const Target& target) : from_(graph), target_(target), result_(graph) {
    result_.nodes.clear();
  }

  Graph run() {
    find_moved();
    if (moved_.empty()) return from_;
    for (const Node& node : from_.nodes) {
      Node copy = node;
      for (std::size_t i = 0; i < copy.inputs.size(); ++i) {
        const auto found = moved_.find(copy.inputs[i]);
        if (found == moved_.end()) continue;
        if (zero_point_of(node))
          read_moved(copy, found->second);
        else
          copy.inputs[i] = moved_by(found->second, from_.tensor(node.inputs[i]).dtype, node.name);
      }
      result_.nodes.push_back(std::move(copy));
      for (const TensorId id : node.outputs)
        if (const auto found = moved_.find(id); found != moved_.end())
          found->second = moved_by(id, other(from_.tensor(id).dtype), from_.tensor(id).name);
    }
    return prune(result_);
  }

 private:
  static DType other(DType bytes) { return bytes == DType::u8 ? DType::i8 : DType::u8; }

  // Whether a node can read a tensor that is moved: as X of a product with a constant zero point that takes the other
  // type, or as part of a group, which moves it back.
  bool can_read_moved(const Node& node, TensorId id) const {
    const auto zero = zero_point_of(node);
    if (!zero) return kind_of(node.op) == OperatorKind::elementwise;
    if (node.inputs[0] != id || std::ranges::count(node.inputs, id) != 1) return false;
    const DType x = from_.tensor(id).dtype;
    return bytes_of_products(target_, x, from_.tensor(node.inputs[1]).dtype) != x &&
           (node.inputs.size() <= *zero || from_.tensor(node.inputs[*zero]).constant != nullptr);
  }

  // Finds the results of elementwise nodes and pools that products read, and nothing that cannot read them moved.
  void find_moved() {
    std::vector<bool> is_read(from_.tensors.size()), keeps(from_.tensors.size(), true);
    for (const Node& node : from_.nodes)
      if (const OperatorKind kind = kind_of(node.op); kind == OperatorKind::elementwise || kind == OperatorKind::anchor)
        keeps[node.outputs[0]] = false;
    for (const TensorId id : from_.outputs) keeps[id] = true;
    for (const Node& node : from_.nodes)
      for (const TensorId id : node.inputs) {
        if (id == kNoTensor) continue;
        const DType type = from_.tensor(id).dtype;
        if ((type != DType::u8 && type != DType::i8) || !can_read_moved(node, id))
          keeps[id] = true;
        else
          is_read[id] = is_read[id] || zero_point_of(node).has_value();
      }
    for (TensorId id = 0; id < from_.tensors.size(); ++id)
      if (is_read[id] && !keeps[id] && from_.tensor(id).constant == nullptr) moved_[id] = kNoTensor;
  }

  TensorId append(Node node, DType type, const Shape& shape) {
    const auto id = static_cast<TensorId>(result_.tensors.size());
    result_.tensors.push_back({node.name, type, shape});
    node.outputs = {id};
    result_.nodes.push_back(std::move(node));
    return id;
  }

  TensorId constant(std::int16_t value, const std::string& name) {
    return add_constant(result_, name, {DType::i16, {}}, constant_data(std::vector{value}));
  }

  // Appends nodes that move bytes by 128 to this type.
  TensorId moved_by(TensorId id, DType to, const std::string& name) {
    const Shape shape = result_.tensor(id).shape;
    const TensorId wide = append({Operator::cast, name, {id}, {}, CastAttributes{DType::i16}}, DType::i16, shape);
    const TensorId by = constant(to == DType::i8 ? -kMiddle : kMiddle, name);
    const TensorId sum = append({Operator::add, name, {wide, by}, {}}, DType::i16, shape);
    return append({Operator::cast, name, {sum}, {}, CastAttributes{to}}, to, shape);
  }

  // Lets a product read X moved, with the zero point moved too.
  void read_moved(Node& node, TensorId moved) {
    const std::size_t place = *zero_point_of(node);
    node.inputs[0] = moved;
    std::int32_t zero = result_.tensor(moved).dtype == DType::i8 ? -kMiddle : kMiddle;
    if (node.inputs.size() > place) zero += integers_of(from_.tensor(node.inputs[place]))->front();
    node.inputs.resize(place, kNoTensor);
    node.inputs.push_back(constant(static_cast<std::int16_t>(zero), node.name));
  }

  const Graph& from_;
  const Target& target_;
  Graph result_;
  std::map<TensorId, TensorId> moved_;  // the tensors that are moved, and what they have become
};

}  // namespace

Graph choose_bytes(const Graph& graph, const Target& target) { return ByteChooser(graph, target).run(); }

}  // namespace ferry::graph
