#include "host/graph/kernels/kernel_key.h"

#include "host/graph/hash_code.h"
#include "host/graph/kernels/fused_dimensions.h"
#include "host/graph/operator_kind.h"
#include "host/graph/sizes_in.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace ferry::graph {
namespace {

// Gives sizes their canonical names.
class CanonicalSizes {
 public:
  explicit CanonicalSizes(std::vector<Size>& sizes) : sizes_(sizes) {}

  Size canonical(const Size& size) {
    if (size.constant()) return size;
    const auto known = std::find(sizes_.begin(), sizes_.end(), size);
    const auto index = static_cast<std::size_t>(known - sizes_.begin());
    if (known == sizes_.end()) sizes_.push_back(size);
    return Size::symbol(symbol_name(index));
  }

  void replace(Shape& shape) {
    for (Size& size : shape) size = canonical(size);
  }

  void replace(Attributes& attributes) {
    for (Size* size : sizes_in(attributes)) *size = canonical(*size);
  }

 private:
  std::vector<Size>& sizes_;
};

// An input of a node that no node of its group computes.
struct Read {
  std::size_t node = 0, input = 0;  // the node's number in the group, and the input's in the node
  TensorId tensor = kNoTensor;
  Shape shape;              // as the program sees it
  bool broadcasts = false;  // to the result of the group
};

// Whether a node computes each pixel of an image from that pixel of another one alone.
bool keeps_pixels(const Node& node) {
  const auto* conv = std::get_if<ConvAttributes>(&node.attributes);
  if (const auto* quantized = std::get_if<QuantizedConvAttributes>(&node.attributes)) conv = &quantized->conv;
  return conv != nullptr && std::ranges::all_of(conv->windows, [](const WindowAttributes& window) {
           return window.kernel == 1 && window.stride == 1 && window.pad_before == 0 && window.pad_after == 0;
         });
}

// Whether the contents are known, and are integers from the least int8 to the greatest uint8.
bool holds_bytes(const Tensor& tensor) {
  constexpr std::size_t kLargest = 4096;  // channels, beyond which the contents are not searched
  if (tensor.constant == nullptr || tensor.dtype != DType::f32) return false;
  const std::span<const std::uint8_t> bytes = tensor.constant->bytes;
  if (bytes.size() > kLargest * sizeof(float)) return false;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    float element = 0;
    std::memcpy(&element, &bytes[at], sizeof element);
    if (!(element >= INT8_MIN && element <= UINT8_MAX) || std::trunc(element) != element) return false;
  }
  return true;
}

class KeyMaker {
 public:
  KeyMaker(const Graph& graph, const Group& group, bool fuses_dimensions)
      : graph_(graph),
        group_(group),
        fuses_dimensions_(fuses_dimensions),
        result_(graph.tensor(output_of(graph, group)).shape) {}

  GroupKernel run() {
    kernel_.key.channel_block = graph_.tensor(output_of(graph_, group_)).channel_block;
    kernel_.key.result = graph_.tensor(output_of(graph_, group_)).dtype;
    add_nodes();
    if (fuses_dimensions_) fuse_dimensions();
    add_inputs();
    find_updatable();
    CanonicalSizes canonical(kernel_.sizes);
    for (KernelInput& input : kernel_.key.inputs) canonical.replace(input.shape);
    for (KernelNode& node : kernel_.key.nodes) canonical.replace(node.attributes);
    kernel_.arguments.push_back(output_of(graph_, group_));
    return std::move(kernel_);
  }

 private:
  const Node& node(std::size_t member) const { return graph_.nodes[group_.nodes[member]]; }

  // Return the first and the last member of the group that is not elementwise, or 0.
  std::size_t first_anchor() const {
    for (std::size_t member = 0; member < group_.nodes.size(); ++member)
      if (kind_of(node(member).op) != OperatorKind::elementwise) return member;
    return 0;
  }
  std::size_t last_anchor() const {
    for (std::size_t member = group_.nodes.size(); member-- > 0;)
      if (kind_of(node(member).op) != OperatorKind::elementwise) return member;
    return 0;
  }

  // Returns the member of the group that computes a tensor.
  std::optional<std::size_t> writer_of(TensorId id, std::size_t before) const {
    for (std::size_t member = 0; member < before; ++member)
      if (node(member).outputs.front() == id) return member;
    return std::nullopt;
  }

  // Elements for each channel broadcast as if they had dimensions of size 1 after them.
  Shape channels(const Shape& shape) const {
    Shape aligned(result_.size() - 1, 1);
    aligned.front() = shape.front();
    return aligned;
  }

  // Returns the shape of a tensor that broadcasts to the result.
  Shape broadcast_shape(const Tensor& tensor, bool per_channel) const {
    if (tensor.channel_block > 1) return stored_shape(tensor);
    Shape shape = per_channel ? channels(tensor.shape) : tensor.shape;
    if (kernel_.key.channel_block > 1) shape.insert(shape.begin(), result_.size() - shape.size(), 1);
    return shape;
  }

  void add_nodes() {
    for (std::size_t member = 0; member < group_.nodes.size(); ++member) {
      KernelNode result{node(member).op, node(member).attributes, {}};
      for (std::size_t input = 0; input < node(member).inputs.size(); ++input) {
        const TensorId id = node(member).inputs[input];
        KernelOperand& operand = result.operands.emplace_back();
        if (id == kNoTensor) continue;
        if (const auto writer = writer_of(id, member)) {
          operand = {KernelOperand::Kind::node, *writer};
          continue;
        }
        const bool per_channel = is_per_channel(result.op, input);
        const bool broadcasts = per_channel || kind_of(result.op) == OperatorKind::elementwise;
        const Tensor& tensor = graph_.tensor(id);
        reads_.push_back(
            {member, input, id, broadcasts ? broadcast_shape(tensor, per_channel) : stored_shape(tensor), broadcasts});
      }
      kernel_.key.nodes.push_back(std::move(result));
    }
  }

  // Whether a node is a product whose rows may be in any number of dimensions.
  bool is_product_of_rows(std::size_t member) const {
    const auto* matmul = std::get_if<MatmulAttributes>(&node(member).attributes);
    if (const auto* quantized = std::get_if<QuantizedMatmulAttributes>(&node(member).attributes))
      matmul = &quantized->matmul;
    if (matmul == nullptr) return false;
    const Shape &a = graph_.tensor(node(member).inputs[0]).shape, &b = graph_.tensor(node(member).inputs[1]).shape;
    return !matmul->transposed_a && a.size() > 2 && b.size() == 2;
  }

  // Makes one row of the rows of all images that a convolution reads without neighbours: tiles of pixels fill one long
  // row better than several short ones.
  void fuse_rows() {
    const std::span height_and_width(result_.data() + 2, 2);
    const auto is_image = [&](const Shape& shape) {
      return std::equal(height_and_width.begin(), height_and_width.end(), shape.begin() + 2);
    };
    const auto is_pixel = [](const Shape& shape) { return shape[2].constant() == 1 && shape[3].constant() == 1; };
    std::vector<Shape*> images;
    bool has_convolution = false;
    for (Read& read : reads_) {
      if (!read.broadcasts && read.input > 0) continue;
      if (!read.broadcasts) {
        if (!keeps_pixels(node(read.node)) || graph_.tensor(read.tensor).channel_block == 1) return;
        has_convolution = true;
      }
      if (is_image(read.shape))
        images.push_back(&read.shape);
      else if (!is_pixel(read.shape))
        return;
    }
    if (!has_convolution || height_and_width[0].constant() == 1) return;
    for (Shape* shape : images) {
      (*shape)[3] = height_and_width[0] * height_and_width[1];
      (*shape)[2] = 1;
    }
  }

  void fuse_dimensions() {
    // The products of attention have batches of their own, and a window after a convolution has neighbours.
    if (last_anchor() != first_anchor()) return;
    if (kernel_.key.channel_block > 1) return fuse_rows();
    std::vector<bool> is_free(result_.size(), true);
    Read* rows = nullptr;
    for (Read& read : reads_) {
      if (read.broadcasts) continue;
      if (!is_product_of_rows(read.node)) return;
      if (read.input != 0) continue;
      rows = &read;
      is_free.back() = false;
    }
    std::vector<Shape> inputs;
    for (const Read& read : reads_)
      if (read.broadcasts) inputs.push_back(read.shape);
    const FusedDimensions fused(result_, inputs, is_free);
    for (Read& read : reads_)
      if (read.broadcasts) read.shape = fused.broadcast_input(read.shape);
    if (rows == nullptr) return;
    const Size depth = rows->shape.back();
    rows->shape = fused.leading(result_.size() - 1);
    rows->shape.push_back(depth);
  }

  void add_inputs() {
    std::vector<KernelInput>& inputs = kernel_.key.inputs;
    for (const Read& read : reads_) {
      std::size_t index = 0;
      while (index < inputs.size() && (kernel_.arguments[index] != read.tensor || inputs[index].shape != read.shape))
        ++index;
      if (index == inputs.size()) {
        const Tensor& tensor = graph_.tensor(read.tensor);
        const bool blocked = tensor.channel_block > 1;
        inputs.push_back(
            {tensor.constant != nullptr, tensor.dtype, read.shape, blocked, blocked ? tensor.shape[1] : Size(0)});
        kernel_.arguments.push_back(read.tensor);
      }
      inputs[index].is_zero_point = inputs[index].is_zero_point || is_zero_point(read);
      kernel_.key.nodes[read.node].operands[read.input] = {KernelOperand::Kind::input, index};
    }
  }

  bool is_zero_point(const Read& read) const {
    if (node(read.node).op != Operator::add || !holds_bytes(graph_.tensor(read.tensor))) return false;
    const KernelOperand& other = kernel_.key.nodes[read.node].operands[1 - read.input];
    return other.kind == KernelOperand::Kind::node && node(other.index).op == Operator::round;
  }

  void find_updatable() {
    const Tensor& result = graph_.tensor(output_of(graph_, group_));
    // Inputs that are read before the last product are read at places of the scores.
    const std::size_t first = last_anchor() == first_anchor() ? 0 : last_anchor();
    for (std::size_t input = 0; input < kernel_.key.inputs.size(); ++input) {
      const Tensor& tensor = graph_.tensor(kernel_.arguments[input]);
      const bool is_alike = tensor.constant == nullptr && type_of(tensor) == type_of(result) &&
                            tensor.channel_block == result.channel_block;
      // A tensor that is read in two shapes is two inputs.
      const bool is_elementwise = std::ranges::all_of(reads_, [&](const Read& read) {
        return read.tensor != kernel_.arguments[input] ||
               (read.node >= first && read.broadcasts && !is_per_channel(node(read.node).op, read.input));
      });
      if (is_alike && is_elementwise) kernel_.updatable.push_back(input);
    }
  }

  const Graph& graph_;
  const Group& group_;
  bool fuses_dimensions_;
  const Shape& result_;
  GroupKernel kernel_;
  std::vector<Read> reads_;
};

}  // namespace

std::size_t hash_of(const KernelKey& key) {
  HashCode hash;
  for (const KernelNode& node : key.nodes) {
    hash.add(static_cast<std::uint64_t>(node.op));
    hash.add(node.attributes);
    for (const KernelOperand& operand : node.operands) {
      hash.add(static_cast<std::uint64_t>(operand.kind));
      hash.add(std::uint64_t{operand.index});
    }
  }
  for (const KernelInput& input : key.inputs) {
    hash.add(std::uint64_t{input.is_constant ? 1U : 0U});
    hash.add(static_cast<std::uint64_t>(input.dtype));
    hash.add(input.shape);
    hash.add(std::uint64_t{input.is_zero_point ? 1U : 0U});
  }
  hash.add(static_cast<std::uint64_t>(key.result));
  hash.add(static_cast<std::uint64_t>(key.channel_block));
  hash.add(std::uint64_t{key.updated ? *key.updated + 1 : 0U});
  for (const std::int64_t hint : key.hints) hash.add(static_cast<std::uint64_t>(hint));
  return hash.value();
}

std::string symbol_name(std::size_t index) { return "n" + std::to_string(index); }

GroupKernel kernel_of(const Graph& graph, const Group& group, bool fuses_dimensions) {
  return KeyMaker(graph, group, fuses_dimensions).run();
}

}  // namespace ferry::graph
