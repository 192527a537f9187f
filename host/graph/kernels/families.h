// The definitions of operators, by families. Those of tensors return the tensor `name`; inputs that are not given are
// empty tensors, and `size` returns a size of the attributes as the program knows it.
#pragma once

#include "ferry/lang/tensor.h"
#include "ferry/ops/convolution.h"
#include "host/graph/graph.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ferry::graph {

using Inputs = std::vector<lang::Tensor>;
using SizeExpr = std::function<lang::Expr(const Size&)>;

// Does not add a bias.
lang::Tensor convolution(const ConvAttributes& attributes, const Inputs& inputs, const std::string& name);
lang::Tensor pooling(Operator op, const PoolAttributes& attributes, const Inputs& inputs, const std::string& name);
std::vector<ops::Window> windows_of(const ConvAttributes& attributes);
lang::Tensor product(const MatmulAttributes& attributes, const Inputs& inputs, const std::string& name);

// Returns sums of products of integers that are not scaled yet, or, not in integers, what the operator is defined as.
lang::Tensor quantized_convolution(const QuantizedConvAttributes& attributes, const Inputs& inputs,
                                   const std::string& name);
lang::Tensor quantized_product(const QuantizedMatmulAttributes& attributes, const Inputs& inputs,
                               const std::string& name);
lang::Tensor packed_product(const PackedMatmulAttributes& attributes, const Inputs& inputs, const std::string& name);

// The same for images with their channels in blocks of `lanes`; a convolution may read an image without.
lang::Tensor blocked_convolution(const ConvAttributes& attributes, const Inputs& inputs, std::int64_t lanes,
                                 const std::string& name);
lang::Tensor blocked_quantized_convolution(const QuantizedConvAttributes& attributes, const Inputs& inputs,
                                           std::int64_t lanes, const std::string& name);
lang::Tensor blocked_pooling(Operator op, const PoolAttributes& attributes, const Inputs& inputs,
                             const std::string& name);
// Reduces the height and the width of such an image to 1, by a mean or a maximum.
lang::Tensor blocked_reduction(Operator op, const lang::Tensor& x, const std::string& name);

enum class Unary : std::uint8_t {
#define FERRY_ENUM(name, inputs, attributes) name,
  FERRY_GRAPH_UNARY(FERRY_ENUM)
#undef FERRY_ENUM
};
enum class Binary : std::uint8_t {
#define FERRY_ENUM(name, inputs, attributes) name,
  FERRY_GRAPH_BINARY(FERRY_ENUM)
#undef FERRY_ENUM
};
std::optional<Unary> unary_of(Operator op);
std::optional<Binary> binary_of(Operator op);
lang::Expr elementwise(Unary function, const lang::Expr& x);
lang::Expr elementwise(Binary function, const lang::Expr& x, const lang::Expr& y);
// Returns the element of a tensor that broadcasts to these indices.
lang::Expr element_of(const lang::Tensor& tensor, const std::vector<lang::Expr>& indices);

lang::Tensor broadcast_to(const BroadcastAttributes& attributes, const Inputs& inputs, const SizeExpr& size,
                          const std::string& name);
lang::Tensor sliced(const SliceAttributes& attributes, const Inputs& inputs, const SizeExpr& size,
                    const std::string& name);
lang::Tensor padded(const PadAttributes& attributes, const Inputs& inputs, const SizeExpr& size,
                    const std::string& name);
lang::Tensor gathered(const DimensionAttributes& attributes, const Inputs& inputs, const std::string& name);

lang::Tensor scattered(const ScatterAttributes& attributes, const Inputs& inputs, const std::string& name);
lang::Tensor counting(const IotaAttributes& attributes, const SizeExpr& size, const std::string& name);
lang::Tensor listed(const SizesAttributes& attributes, const SizeExpr& size, const std::string& name);

}  // namespace ferry::graph
