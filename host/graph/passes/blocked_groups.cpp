#include "host/graph/passes/blocked_groups.h"

#include "host/graph/operator_kind.h"

#include <algorithm>

namespace ferry::graph {
namespace {

// Scale the cost of work in the plain layout. All are estimates for one core with its caches.
// Plain convolutions vectorise along rows, which leaves vectors partly empty, and read their filters as scalars.
constexpr double kPlainConvolution = 1.3, kPlainDepthwise = 1.5, kPlainPool = 4, kTransposition = 4;
// A depthwise convolution reads an element and a weight for each multiply-add. In the plain layout, rows of fewer
// vectors than this take longer by as much.
constexpr double kDepthwise = 2.4, kVectorsInRow = 2.1;
// With this many channels or fewer, a convolution reads its input plain.
constexpr std::int64_t kFewChannels = 4;

double bytes_of(const Graph& graph, TensorId id, const SizeGuess& guess) {
  return guess(element_count(graph.tensor(id).shape)) * static_cast<double>(dtype_bytes(graph.tensor(id).dtype));
}

bool is_image(const Tensor& tensor) {
  const bool is_byte = tensor.dtype == DType::u8 || tensor.dtype == DType::i8;
  return (tensor.dtype == DType::f32 || is_byte) && tensor.shape.size() == 4 && tensor.shape[1].constant().has_value();
}

std::int64_t channels_of(const Graph& graph, TensorId id) { return *graph.tensor(id).shape[1].constant(); }

// Returns the attributes of a convolution, of floats or of integers; null for other operators.
const ConvAttributes* convolution_of(const Node& node) {
  if (const auto* quantized = std::get_if<QuantizedConvAttributes>(&node.attributes)) return &quantized->conv;
  return std::get_if<ConvAttributes>(&node.attributes);
}

bool reduces_image(const Node& node) {
  const auto& reduce = std::get<ReduceAttributes>(node.attributes);
  return reduce.keep && reduce.dimensions == std::vector<std::size_t>{2, 3};
}

bool is_one_for_each_channel(const Shape& shape) {
  const auto is_one = [&](std::size_t d) { return size_at(shape, d, 4).constant() == 1; };
  return is_one(0) && is_one(2) && is_one(3);
}

class BlockedGroup {
 public:
  BlockedGroup(const Graph& graph, const Group& group, std::int64_t lanes, const SizeGuess& guess)
      : graph_(graph), group_(group), lanes_(lanes), guess_(guess), result_(graph.tensor(output_of(graph, group))) {}

  std::optional<LayoutCosts> costs() {
    if (!is_image(result_) || result_.shape[1].constant() == 1) return std::nullopt;
    for (const std::size_t index : group_.nodes)
      if (!add(graph_.nodes[index])) return std::nullopt;
    const bool is_elementwise = kind_of(graph_.nodes[group_.nodes.front()].op) == OperatorKind::elementwise;
    if (is_elementwise && !has_whole_input_) return std::nullopt;
    const double written = bytes_of(output_of(graph_, group_));
    return LayoutCosts{costs_.plain + written, costs_.blocked + written * waste(*result_.shape[1].constant())};
  }

 private:
  // Returns how much larger an image of so many channels is in blocks.
  double waste(std::int64_t channels) const {
    return static_cast<double>((channels + lanes_ - 1) / lanes_ * lanes_) / static_cast<double>(channels);
  }

  double bytes_of(TensorId id) const { return graph::bytes_of(graph_, id, guess_); }

  bool is_inside(TensorId id) const {
    return std::ranges::any_of(group_.nodes,
                               [&](std::size_t index) { return graph_.nodes[index].outputs.front() == id; });
  }

  // Adds the costs of reading an image, and of what is done with each byte of it.
  void add_read(TensorId id, double plain, double blocked) {
    const double bytes = bytes_of(id);
    costs_.plain += bytes * plain;
    costs_.blocked += bytes * blocked * waste(channels_of(graph_, id));
  }

  bool add(const Node& node) {
    switch (kind_of(node.op)) {
      case OperatorKind::elementwise: return add_elementwise(node);
      case OperatorKind::anchor: return add_anchor(node);
      case OperatorKind::movement: return add_concat(node);
      case OperatorKind::view:
      case OperatorKind::control: return false;
    }
    return false;
  }

  bool add_elementwise(const Node& node) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (is_inside(id)) continue;
      const Tensor& tensor = graph_.tensor(id);
      if (is_per_channel(node.op, i)) {
        if (tensor.constant == nullptr) return false;
      } else if (reads_blocked(graph_, node, i)) {
        if (!is_image(tensor)) return false;
        has_whole_input_ |= tensor.shape == result_.shape;
        add_read(id, 1, 1);
      } else if (size_at(tensor.shape, 1, 4).constant() != 1 && !is_one_for_each_channel(tensor.shape)) {
        return false;
      }
    }
    return true;
  }

  bool add_anchor(const Node& node) {
    const TensorId x = node.inputs[0];
    if (!is_image(graph_.tensor(x))) return false;
    if (convolution_of(node) != nullptr) return add_convolution(node);
    if (graph_.tensor(x).dtype != DType::f32 && node.op != Operator::max_pool) return false;
    if (const auto* pool = std::get_if<PoolAttributes>(&node.attributes)) {
      double window = 1;
      for (const WindowAttributes& one : pool->windows) window *= static_cast<double>(one.kernel);
      const double read = window * bytes_of(node.outputs[0]) / bytes_of(x);
      add_read(x, read * kPlainPool, read);
      return true;
    }
    add_read(x, 1, 1);
    return (node.op == Operator::reduce_mean || node.op == Operator::reduce_max) && reduces_image(node);
  }

  bool add_convolution(const Node& node) {
    const ConvAttributes& conv = *convolution_of(node);
    const bool is_quantized = node.op == Operator::quantized_conv;
    const bool depthwise = is_depthwise(graph_, node);
    if (is_quantized ? conv.groups > 1 && !depthwise : graph_.tensor(node.inputs[0]).dtype != DType::f32) return false;
    if (graph_.tensor(node.inputs[1]).constant == nullptr) return false;
    if (!is_quantized && node.inputs.size() > 2 && graph_.tensor(node.inputs[2]).constant == nullptr) return false;
    const bool padded =
        std::ranges::any_of(conv.windows, [](const auto& one) { return one.pad_before != 0 || one.pad_after != 0; });
    const std::int64_t outputs = channels_of(graph_, node.outputs[0]);
    // The lanes of a vector would read different channels.
    if (!depthwise && conv.groups > 1 && outputs / conv.groups % lanes_ != 0) return false;
    const double work = guess_(multiply_adds(graph_, node)) / kMultiplyAddsPerByte * (depthwise ? kDepthwise : 1);
    const double vectors = guess_(result_.shape[3]) / static_cast<double>(lanes_);
    costs_.plain += work * (depthwise ? std::max(kPlainDepthwise, kVectorsInRow / vectors) : kPlainConvolution);
    costs_.blocked += work * waste(outputs);
    const double reads = padded ? 3 : 1;  // how often it is read: also written with its padding, and read again
    if (reads_blocked(graph_, node, 0)) {
      add_read(node.inputs[0], reads, reads);
    } else {
      costs_.plain += reads * bytes_of(node.inputs[0]);
      costs_.blocked += reads * bytes_of(node.inputs[0]);
    }
    return true;
  }

  bool add_concat(const Node& node) {
    if (node.op != Operator::concat || std::get<DimensionAttributes>(node.attributes).dimension != 1) return false;
    for (const TensorId id : node.inputs) {
      if (!is_image(graph_.tensor(id)) || graph_.tensor(id).constant != nullptr ||
          channels_of(graph_, id) % lanes_ != 0)
        return false;
      add_read(id, 1, 1);
    }
    return true;
  }

  const Graph& graph_;
  const Group& group_;
  std::int64_t lanes_;
  const SizeGuess& guess_;
  const Tensor& result_;
  LayoutCosts costs_;
  bool has_whole_input_ = false;  // an image in blocks with the shape of the result
};

}  // namespace

bool is_depthwise(const Graph& graph, const Node& node) {
  const ConvAttributes* conv = convolution_of(node);
  if (conv == nullptr) return false;
  const Shape& weights = graph.tensor(node.inputs[1]).shape;
  return conv->groups > 1 && weights[0].constant() == conv->groups && weights[1].constant() == 1;
}

std::optional<LayoutCosts> layout_costs(const Graph& graph, const Group& group, std::int64_t lanes,
                                        const SizeGuess& guess) {
  return BlockedGroup(graph, group, lanes, guess).costs();
}

bool reads_blocked(const Graph& graph, const Node& node, std::size_t input) {
  const Tensor& tensor = graph.tensor(node.inputs[input]);
  if (tensor.constant != nullptr) return false;
  // A first convolution of few channels reads them plain.
  if (const ConvAttributes* conv = convolution_of(node))
    return input == 0 && (conv->groups > 1 || tensor.shape[1].constant().value_or(kFewChannels + 1) > kFewChannels);
  if (kind_of(node.op) != OperatorKind::elementwise) return true;
  // One element for all channels is read as it is, and so is one for each channel that is no image, as the bias of many
  // filters that is computed from integers.
  return !is_per_channel(node.op, input) && size_at(tensor.shape, 1, 4).constant() != 1 &&
         (tensor.shape.size() == 4 || !is_one_for_each_channel(tensor.shape));
}

double conversion_cost(const Graph& graph, TensorId id, std::int64_t lanes, const SizeGuess& guess) {
  const Tensor& tensor = graph.tensor(id);
  return is_image(tensor) && is_same_bytes(tensor.shape, lanes) ? 0 : kTransposition * bytes_of(graph, id, guess);
}

}  // namespace ferry::graph
