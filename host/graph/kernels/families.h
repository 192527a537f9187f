// The definitions of operators' outputs, by families. Each returns the tensor `name`; inputs that are not given are
// empty tensors, and `size` returns a size of the attributes as the program knows it.
#pragma once

#include "ferry/lang/tensor.h"
#include "host/graph/graph.h"

#include <functional>
#include <string>
#include <vector>

namespace ferry::graph {

using Inputs = std::vector<lang::Tensor>;
using SizeExpr = std::function<lang::Expr(const Size&)>;

lang::Tensor convolution(const ConvAttributes& attributes, const Inputs& inputs, const std::string& name);
lang::Tensor pooling(Operator op, const PoolAttributes& attributes, const Inputs& inputs, const std::string& name);
lang::Tensor product(const MatmulAttributes& attributes, const Inputs& inputs, const std::string& name);

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
lang::Tensor elementwise(Unary function, const Inputs& inputs, const std::string& name);
lang::Tensor elementwise(Binary function, const Inputs& inputs, const std::string& name);
lang::Tensor choice(const Inputs& inputs, const std::string& name);

lang::Tensor broadcast_to(const BroadcastAttributes& attributes, const Inputs& inputs, const SizeExpr& size,
                          const std::string& name);
lang::Tensor sliced(const SliceAttributes& attributes, const Inputs& inputs, const SizeExpr& size,
                    const std::string& name);
lang::Tensor padded(const PadAttributes& attributes, const Inputs& inputs, const SizeExpr& size,
                    const std::string& name);
lang::Tensor gathered(const DimensionAttributes& attributes, const Inputs& inputs, const std::string& name);

}  // namespace ferry::graph
