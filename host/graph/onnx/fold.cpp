#include "host/graph/onnx/fold.h"

#include <algorithm>
#include <cmath>

#include "host/graph/onnx/fold_elements.h"
#include "host/graph/onnx/fold_ratios.h"

namespace ferry::graph::onnx {
namespace {

using Position = std::vector<std::int64_t>;

std::optional<Position> numbers_of(const Shape& shape) {
  Position sizes;
  for (const Size& size : shape) {
    const std::optional<std::int64_t> number = size.constant();
    if (!number) return std::nullopt;
    sizes.push_back(*number);
  }
  return sizes;
}

std::int64_t count_of(const Position& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

Position position_of(std::int64_t index, const Position& sizes) {
  Position position(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0;) {
    position[d] = index % sizes[d];
    index /= sizes[d];
  }
  return position;
}

std::size_t index_of(const Position& position, const Position& sizes) {
  std::int64_t index = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) index = index * sizes[d] + position[d];
  return static_cast<std::size_t>(index);
}

// Returns the index of the element that broadcasting puts at `position`.
std::size_t broadcast_index(const Position& position, const Position& sizes) {
  Position own(position.end() - static_cast<std::ptrdiff_t>(sizes.size()), position.end());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) own[d] = 0;
  }
  return index_of(own, sizes);
}

// Returns elements of one type; null where a float has no exact quotient beside those that depend on sizes.
KnownRef known_of(const std::vector<Element>& elements) {
  Known known;
  const bool has_ratio =
      std::ranges::any_of(elements, [](const Element& each) { return std::holds_alternative<Ratio>(each); });
  for (const Element& element : elements) {
    const auto* real = std::get_if<double>(&element);
    if (const auto* integer = std::get_if<Size>(&element)) {
      known.integers.push_back(*integer);
    } else if (real != nullptr && !has_ratio) {
      known.reals.push_back(*real);
    } else {
      const std::optional<Ratio> ratio = real != nullptr ? ratio_of(*real) : std::get<Ratio>(element);
      if (!ratio) return nullptr;
      known.ratios.push_back(*ratio);
    }
  }
  return std::make_shared<Known>(std::move(known));
}

// Reductions visit all elements for each result.
constexpr std::int64_t kMaxReduced = 16384;

// The known inputs of one node with constant shapes, and its result.
class Folder {
 public:
  Folder(const Node& node, std::span<const TensorType> types, std::span<const KnownRef> inputs,
         const TensorType& result)
      : node_(node), types_(types), inputs_(inputs), result_(result) {}

  KnownRef run() {
    const std::optional<Position> sizes = numbers_of(result_.shape);
    if (!sizes || element_count(result_.shape).constant() > std::int64_t{kMaxKnown} || dequantizes_weights())
      return nullptr;
    for (const TensorType& type : types_) {
      const std::optional<Position> own = numbers_of(type.shape);
      if (!own) return nullptr;
      sizes_.push_back(*own);
    }
    const std::int64_t count = count_of(*sizes);
    if (std::holds_alternative<ReduceAttributes>(node_.attributes) && count * count_of(sizes_[0]) > kMaxReduced) {
      return nullptr;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      if (!element(position_of(i, *sizes), static_cast<std::size_t>(i))) return nullptr;
    }
    return known_of(output_);
  }

 private:
  // Whether the node converts filters or matrices of bytes, whose products with bytes are computed in integers.
  bool dequantizes_weights() const {
    return node_.op == Operator::cast && dtype_bytes(types_[0].dtype) == 1 && is_float(result_.dtype) &&
           result_.shape.size() >= 2 && types_[0].dtype != DType::boolean;
  }

  bool copy(std::size_t input, std::size_t index) {
    output_.push_back(element_of(*inputs_[input], index));
    return true;
  }

  bool elementwise(const Position& position) {
    std::vector<Element> operands;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      operands.push_back(element_of(*inputs_[i], broadcast_index(position, sizes_[i])));
    }
    const std::optional<Element> value = fold_element(node_.op, operands, types_[0].dtype, result_.dtype);
    if (!value) return false;
    output_.push_back(*value);
    return true;
  }

  bool concat(Position position) {
    const std::size_t dimension = std::get<DimensionAttributes>(node_.attributes).dimension;
    std::size_t input = 0;
    while (position[dimension] >= sizes_[input][dimension]) position[dimension] -= sizes_[input++][dimension];
    return copy(input, index_of(position, sizes_[input]));
  }

  bool gather(const Position& position) {
    const std::size_t dimension = std::get<DimensionAttributes>(node_.attributes).dimension;
    const auto begin = position.begin() + static_cast<std::ptrdiff_t>(dimension);
    const auto end = begin + static_cast<std::ptrdiff_t>(sizes_[1].size());
    const Size& chosen = inputs_[1]->integers[index_of(Position(begin, end), sizes_[1])];
    const std::optional<std::int64_t> number = chosen.constant();
    const std::int64_t size = sizes_[0][dimension];
    if (!number || *number < -size || *number >= size) return false;
    Position source(position.begin(), begin);
    source.push_back(*number < 0 ? *number + size : *number);
    source.insert(source.end(), end, position.end());
    return copy(0, index_of(source, sizes_[0]));
  }

  bool transpose(const Position& position) {
    Position source(position.size());
    const std::vector<std::size_t>& order = std::get<TransposeAttributes>(node_.attributes).order;
    for (std::size_t d = 0; d < order.size(); ++d) source[order[d]] = position[d];
    return copy(0, index_of(source, sizes_[0]));
  }

  bool slice(Position position) {
    const auto& slice = std::get<SliceAttributes>(node_.attributes);
    for (std::size_t d = 0; d < position.size(); ++d) {
      const std::optional<std::int64_t> begin = slice.begin[d].constant();
      if (!begin) return false;
      position[d] = *begin + position[d] * slice.stride[d];
    }
    return copy(0, index_of(position, sizes_[0]));
  }

  bool reduce(const Position& position) {
    const auto& reduce = std::get<ReduceAttributes>(node_.attributes);
    const Position& sizes = sizes_[0];
    const Operator combine = node_.op == Operator::reduce_prod  ? Operator::mul
                             : node_.op == Operator::reduce_max ? Operator::maximum
                             : node_.op == Operator::reduce_min ? Operator::minimum
                                                                : Operator::add;
    std::optional<Element> result;
    for (std::int64_t i = 0; i < count_of(sizes); ++i) {
      Position kept;
      const Position source = position_of(i, sizes);
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        const bool reduced = std::binary_search(reduce.dimensions.begin(), reduce.dimensions.end(), d);
        if (!reduced) kept.push_back(source[d]);
        if (reduced && reduce.keep) kept.push_back(0);
      }
      if (kept != position || inputs_[0]->integers.empty()) continue;
      const Size& next = inputs_[0]->integers[static_cast<std::size_t>(i)];
      const Element operands[] = {result.value_or(next), next};
      result = result ? fold_element(combine, operands, types_[0].dtype, result_.dtype) : std::optional<Element>(next);
      if (!result) return false;
    }
    if (result) output_.push_back(*result);
    return result.has_value();
  }

  bool element(const Position& position, std::size_t index) {
    switch (node_.op) {
      case Operator::reshape: return copy(0, index);
      case Operator::broadcast: return copy(0, broadcast_index(position, sizes_[0]));
      case Operator::transpose: return transpose(position);
      case Operator::slice: return slice(position);
      case Operator::concat: return concat(position);
      case Operator::gather: return gather(position);
      case Operator::reduce_sum:
      case Operator::reduce_max:
      case Operator::reduce_min:
      case Operator::reduce_prod: return reduce(position);
#define FERRY_CASE(name, count, attributes) case Operator::name:
        FERRY_GRAPH_UNARY(FERRY_CASE)
        FERRY_GRAPH_BINARY(FERRY_CASE)
#undef FERRY_CASE
      case Operator::cast:
      case Operator::where: return elementwise(position);
      case Operator::conv:
      case Operator::matmul:
      case Operator::quantized_conv:
      case Operator::quantized_matmul:
      case Operator::packed_matmul:
      case Operator::max_pool:
      case Operator::average_pool:
      case Operator::reduce_mean:
      case Operator::softmax:
      case Operator::batch_norm:
      case Operator::layer_norm:
      case Operator::pad:
      case Operator::convert:
      case Operator::gather_elements:
      case Operator::scatter:
      case Operator::arg_max:
      case Operator::arg_min:
      case Operator::sort_rank:
      case Operator::top_k:
      case Operator::cumulative_sum:
      case Operator::cumulative_prod:
      case Operator::sizes:
      case Operator::loop:
      case Operator::end_loop: return false;
      case Operator::iota: output_.emplace_back(Size(static_cast<std::int64_t>(index))); return true;
    }
    return false;
  }

  const Node& node_;
  std::span<const TensorType> types_;
  std::span<const KnownRef> inputs_;
  const TensorType& result_;
  std::vector<Position> sizes_;
  std::vector<Element> output_;
};

}  // namespace

KnownRef fold(const Node& node, std::span<const TensorType> types, std::span<const KnownRef> inputs,
              const TensorType& result) {
  return Folder(node, types, inputs, result).run();
}

}  // namespace ferry::graph::onnx
