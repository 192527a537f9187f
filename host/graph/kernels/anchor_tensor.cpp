#include "host/graph/kernels/anchor_tensor.h"

#include "crosscompile/ir/error.h"
#include "ferry/ops/blocked.h"
#include "ferry/ops/elementwise.h"
#include "ferry/ops/indexing.h"
#include "ferry/ops/normalization.h"
#include "ferry/ops/reductions.h"
#include "ferry/ops/scans.h"
#include "ferry/ops/shapes.h"
#include "ferry/ops/sorting.h"

namespace ferry::graph {
namespace {

lang::Tensor reduction(const KernelNode& node, const lang::Tensor& x, const std::string& name) {
  const auto& [dimensions, keep] = std::get<ReduceAttributes>(node.attributes);
  const auto reduced = [&](ir::ReduceOp op) { return ops::reduce(op, x, dimensions, name, keep); };
  if (dimensions.empty()) return ops::map(x, [](const lang::Expr& value) { return value; }, name);
  if (node.op == Operator::reduce_mean) return ops::mean(x, dimensions, name, keep);
  if (node.op == Operator::reduce_max) return reduced(ir::ReduceOp::max);
  if (node.op == Operator::reduce_min) return reduced(ir::ReduceOp::min);
  return reduced(node.op == Operator::reduce_sum ? ir::ReduceOp::sum : ir::ReduceOp::prod);
}

lang::Tensor place_of(const KernelNode& node, const lang::Tensor& x, const std::string& name) {
  const auto& [dimensions, keep] = std::get<ReduceAttributes>(node.attributes);
  return node.op == Operator::arg_max ? ops::argmax(x, dimensions, name, keep) : ops::argmin(x, dimensions, name, keep);
}

}  // namespace

lang::Tensor tensor_of(const KernelNode& node, const Inputs& x, const SizeExpr& size, const std::string& name) {
  const auto dimension = [&] { return std::get<DimensionAttributes>(node.attributes).dimension; };
  switch (node.op) {
    case Operator::conv: return convolution(std::get<ConvAttributes>(node.attributes), x, name);
    case Operator::matmul: return product(std::get<MatmulAttributes>(node.attributes), x, name);
    case Operator::quantized_conv:
      return quantized_convolution(std::get<QuantizedConvAttributes>(node.attributes), x, name);
    case Operator::quantized_matmul:
      return quantized_product(std::get<QuantizedMatmulAttributes>(node.attributes), x, name);
    case Operator::packed_matmul: return packed_product(std::get<PackedMatmulAttributes>(node.attributes), x, name);
    case Operator::max_pool:
    case Operator::average_pool: return pooling(node.op, std::get<PoolAttributes>(node.attributes), x, name);
    case Operator::reduce_sum:
    case Operator::reduce_mean:
    case Operator::reduce_max:
    case Operator::reduce_min:
    case Operator::reduce_prod: return reduction(node, x[0], name);
    case Operator::softmax: return ops::softmax(x[0], dimension(), name);
    case Operator::layer_norm:
      return ops::layer_norm(x[0], x[1], x[2], name, std::get<LayerNormAttributes>(node.attributes).epsilon);
    case Operator::broadcast: return broadcast_to(std::get<BroadcastAttributes>(node.attributes), x, size, name);
    case Operator::transpose: return ops::transpose(x[0], name, std::get<TransposeAttributes>(node.attributes).order);
    case Operator::slice: return sliced(std::get<SliceAttributes>(node.attributes), x, size, name);
    case Operator::pad: return padded(std::get<PadAttributes>(node.attributes), x, size, name);
    case Operator::concat: return ops::concat(x, dimension(), name);
    case Operator::gather: return gathered(std::get<DimensionAttributes>(node.attributes), x, name);
    case Operator::gather_elements: return ops::gather_elements(x[0], x[1], dimension(), name);
    case Operator::scatter: return scattered(std::get<ScatterAttributes>(node.attributes), x, name);
    case Operator::arg_max:
    case Operator::arg_min: return place_of(node, x[0], name);
    case Operator::sort_rank: {
      const auto& sort = std::get<SortAttributes>(node.attributes);
      return ops::sort_rank(x[0], sort.dimension, sort.descending, name);
    }
    case Operator::top_k: {
      const auto& [count, largest] = std::get<TopKAttributes>(node.attributes);
      return ops::top_k(x[0], count, largest, name);
    }
    case Operator::cumulative_sum:
    case Operator::cumulative_prod: {
      const auto& [axis, exclusive, backwards] = std::get<CumulativeAttributes>(node.attributes);
      const bool is_sum = node.op == Operator::cumulative_sum;
      return is_sum ? ops::cumulative_sum(x[0], axis, exclusive, backwards, name)
                    : ops::cumulative_prod(x[0], axis, exclusive, backwards, name);
    }
    case Operator::iota: return counting(std::get<IotaAttributes>(node.attributes), size, name);
    case Operator::sizes: return listed(std::get<SizesAttributes>(node.attributes), size, name);
#define FERRY_CASE(function, inputs, attributes) case Operator::function:
      FERRY_GRAPH_UNARY(FERRY_CASE)
      FERRY_GRAPH_BINARY(FERRY_CASE)
#undef FERRY_CASE
    case Operator::convert:
    case Operator::where:
    case Operator::cast:
    case Operator::batch_norm:
    case Operator::reshape:
    case Operator::loop:
    case Operator::end_loop: break;
  }
  throw InternalError(std::string("tensor_of: unexpected operator ") + operator_name(node.op));
}

lang::Tensor blocked_tensor_of(const KernelNode& node, const Inputs& x, std::int64_t lanes, const std::string& name) {
  if (const auto* conv = std::get_if<ConvAttributes>(&node.attributes))
    return blocked_convolution(*conv, x, lanes, name);
  if (const auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes))
    return blocked_quantized_convolution(*conv, x, lanes, name);
  if (const auto* pool = std::get_if<PoolAttributes>(&node.attributes)) return blocked_pooling(node.op, *pool, x, name);
  if (node.op == Operator::convert) return ops::to_blocked(x[0], lanes, name);
  if (node.op == Operator::concat) return ops::concat(x, 1, name);
  if (node.op == Operator::reduce_mean || node.op == Operator::reduce_max)
    return blocked_reduction(node.op, x[0], name);
  throw InternalError(std::string("blocked_tensor_of: unexpected operator ") + operator_name(node.op));
}

}  // namespace ferry::graph
