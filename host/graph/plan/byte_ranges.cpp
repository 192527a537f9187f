#include "host/graph/plan/byte_ranges.h"

#include <algorithm>

namespace ferry::graph {

Size byte_count(const Tensor& tensor) {
  return element_count(stored_shape(tensor)) * Size(static_cast<std::int64_t>(dtype_bytes(tensor.dtype)));
}

std::optional<std::vector<Size>> concat_offsets(const Graph& graph, const Node& concat) {
  const Tensor& result = graph.tensor(concat.outputs[0]);
  const std::size_t dimension = std::get<DimensionAttributes>(concat.attributes).dimension;
  for (std::size_t d = 0; d < dimension; ++d)
    if (result.shape[d].constant() != 1) return std::nullopt;
  if (result.channel_block > 1 && dimension > 1) return std::nullopt;
  std::vector<Size> offsets{0};
  for (const TensorId id : concat.inputs) {
    const Tensor& part = graph.tensor(id);
    if (part.channel_block != result.channel_block) return std::nullopt;
    // A block that is not full would have lanes between two parts.
    if (part.channel_block > 1 && dimension == 1 && *part.shape[1].constant() % part.channel_block != 0)
      return std::nullopt;
    offsets.push_back(offsets.back() + byte_count(part));
  }
  return offsets;
}

std::optional<Size> slice_offset(const Graph& graph, const Node& slice) {
  const auto& attributes = std::get<SliceAttributes>(slice.attributes);
  const Tensor &whole = graph.tensor(slice.inputs[0]), &part = graph.tensor(slice.outputs[0]);
  if (whole.channel_block > 1 || part.channel_block > 1) return std::nullopt;
  Size stride = static_cast<std::int64_t>(dtype_bytes(whole.dtype)), offset = 0;
  bool is_divided = false;  // whether a dimension behind this one is not whole
  for (std::size_t d = whole.shape.size(); d-- > 0;) {
    const bool is_one = part.shape[d].constant() == 1;
    if ((!is_one && is_divided) || (!is_one && attributes.stride[d] != 1)) return std::nullopt;
    is_divided |= !(part.shape[d] == whole.shape[d]);
    offset = offset + attributes.begin[d] * stride;
    stride = stride * whole.shape[d];
  }
  return offset;
}

}  // namespace ferry::graph
