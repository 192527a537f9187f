#include "host/graph/kernels/kernel_key.h"

#include "crosscompile/ir/error.h"

#include <algorithm>

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
    if (auto* broadcast = std::get_if<BroadcastAttributes>(&attributes)) replace(broadcast->shape);
    if (auto* slice = std::get_if<SliceAttributes>(&attributes)) {
      replace(slice->begin);
      replace(slice->shape);
    }
    if (auto* pad = std::get_if<PadAttributes>(&attributes)) {
      replace(pad->before);
      replace(pad->after);
    }
  }

 private:
  std::vector<Size>& sizes_;
};

bool is_elementwise(Operator op) {
  switch (op) {
#define FERRY_CASE(name, inputs, attributes) case Operator::name:
    FERRY_GRAPH_UNARY(FERRY_CASE)
    FERRY_GRAPH_BINARY(FERRY_CASE)
#undef FERRY_CASE
    case Operator::where:
    case Operator::cast: return true;
    case Operator::conv:
    case Operator::matmul:
    case Operator::max_pool:
    case Operator::average_pool:
    case Operator::reduce_sum:
    case Operator::reduce_mean:
    case Operator::reduce_max:
    case Operator::reduce_min:
    case Operator::reduce_prod:
    case Operator::softmax:
    case Operator::batch_norm:
    case Operator::layer_norm:
    case Operator::reshape:
    case Operator::broadcast:
    case Operator::transpose:
    case Operator::slice:
    case Operator::pad:
    case Operator::concat:
    case Operator::gather: return false;
  }
  throw InternalError("is_elementwise: unknown operator");
}

void fuse_leading_dimensions(Shape& shape, std::size_t count) {
  const auto end = shape.begin() + static_cast<std::ptrdiff_t>(count);
  const Size fused = element_count(Shape(shape.begin(), end));
  shape.erase(shape.begin(), end);
  shape.insert(shape.begin(), fused);
}

// Makes one dimension of those that the operator does not tell apart, so that fewer kernels do for a network: all
// dimensions of elementwise operators without broadcasting, and the batches and rows of a product with one matrix.
void fuse_dimensions(Operator op, const Attributes& attributes, std::vector<KernelInput>& inputs) {
  if (is_elementwise(op)) {
    const Shape& first = inputs.front().shape;
    const bool broadcasts =
        std::any_of(inputs.begin(), inputs.end(), [&](const KernelInput& input) { return input.shape != first; });
    if (broadcasts) return;
    for (KernelInput& input : inputs) fuse_leading_dimensions(input.shape, input.shape.size());
  }
  if (op == Operator::matmul && !std::get<MatmulAttributes>(attributes).transposed_a && inputs[0].shape.size() > 2 &&
      inputs[1].shape.size() == 2) {
    fuse_leading_dimensions(inputs[0].shape, inputs[0].shape.size() - 1);
  }
}

}  // namespace

std::string symbol_name(std::size_t index) { return "n" + std::to_string(index); }

NodeKernel kernel_of(const Graph& graph, const Node& node) {
  NodeKernel kernel;
  kernel.key.op = node.op;
  kernel.key.attributes = node.attributes;
  for (const TensorId id : node.inputs) {
    if (id == kNoTensor) {
      kernel.key.inputs.push_back({false, false, DType::f32, {}});
      continue;
    }
    const Tensor& tensor = graph.tensor(id);
    kernel.key.inputs.push_back({true, tensor.constant != nullptr, tensor.dtype, tensor.shape});
    kernel.arguments.push_back(id);
  }
  kernel.arguments.insert(kernel.arguments.end(), node.outputs.begin(), node.outputs.end());
  fuse_dimensions(node.op, node.attributes, kernel.key.inputs);
  CanonicalSizes canonical(kernel.sizes);
  for (KernelInput& input : kernel.key.inputs) canonical.replace(input.shape);
  canonical.replace(kernel.key.attributes);
  return kernel;
}

}  // namespace ferry::graph
