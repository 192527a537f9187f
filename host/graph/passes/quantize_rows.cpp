#include "host/graph/passes/quantize_rows.h"

#include "crosscompile/passes/tensorize/dot_instructions.h"
#include "host/graph/prune.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ferry::graph {
namespace {

// Number of bytes that instructions multiply and add at once.
constexpr std::uint32_t kGroup = 4;

// Returns the type in which the target multiplies numbers of so many bits by int8; nothing if it has no instruction.
std::optional<DType> number_type(const Target& target, std::int64_t bits) {
  const std::int64_t lanes = target.lanes(sizeof(std::int32_t));
  const auto has = [&](DType number) {
    const auto count = static_cast<std::uint32_t>(lanes);
    return passes::find_dot(target, DType::i32, number, DType::i8, count, kGroup) != nullptr;
  };
  if (lanes < 2) return std::nullopt;
  if (has(DType::u8)) return DType::u8;
  return bits < 8 && has(DType::i8) ? std::optional(DType::i8) : std::nullopt;
}

// Returns [panels, depth, columns] of bytes as [panels, depth / kGroup, columns, kGroup].
std::shared_ptr<const ConstantData> in_groups(const Tensor& bytes) {
  const auto panels = static_cast<std::size_t>(*bytes.shape[0].constant()),
             depth = static_cast<std::size_t>(*bytes.shape[1].constant()),
             columns = static_cast<std::size_t>(*bytes.shape[2].constant());
  const auto grouped = std::make_shared<std::vector<std::uint8_t>>(bytes.constant->bytes.size());
  const std::uint8_t* from = bytes.constant->bytes.data();
  for (std::size_t panel = 0; panel < panels; ++panel)
    for (std::size_t d = 0; d < depth; ++d) {
      std::uint8_t* into = grouped->data() + (panel * depth + d / kGroup * kGroup) * columns + d % kGroup;
      for (std::size_t c = 0; c < columns; ++c) into[c * kGroup] = *from++;
    }
  return std::make_shared<const ConstantData>(ConstantData{*grouped, grouped});
}

// Appends the weights with each word of 32 bits as four bytes.
TensorId add_words(Graph& graph, TensorId weights) {
  const Tensor from = graph.tensor(weights);
  Shape shape = from.shape;
  if (from.dtype == DType::u8) shape[1] = *shape[1].constant() / static_cast<std::int64_t>(kGroup);
  shape.push_back(kGroup);
  // Words in memory begin with their low bits.
  return add_constant(graph, from.name, {DType::u8, shape}, from.dtype == DType::u8 ? in_groups(from) : from.constant);
}

}  // namespace

Graph quantize_rows(Graph graph, const Target& target) {
  std::map<TensorId, TensorId> words;
  for (Node& node : graph.nodes) {
    auto* packed = std::get_if<PackedMatmulAttributes>(&node.attributes);
    constexpr std::int64_t kWordBits = std::int64_t{kGroup} * 8;
    if (packed == nullptr || !packed->allows_int8 || packed->block * packed->bits % kWordBits != 0) continue;
    const std::optional<DType> number = number_type(target, packed->bits);
    if (!number || graph.tensor(node.inputs[1]).constant == nullptr) continue;
    const auto [place, is_new] = words.try_emplace(node.inputs[1]);
    if (is_new) place->second = add_words(graph, node.inputs[1]);
    node.inputs[1] = place->second;
    packed->has_int8_rows = true;
    packed->number = *number;
  }
  return words.empty() ? graph : prune(graph);
}

}  // namespace ferry::graph
