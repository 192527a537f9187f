#include "host/graph/operator_kind.h"

#include "crosscompile/ir/error.h"

namespace ferry::graph {

OperatorKind kind_of(Operator op) {
  switch (op) {
    case Operator::conv:
    case Operator::matmul:
    case Operator::quantized_conv:
    case Operator::quantized_matmul:
    case Operator::packed_matmul:
    case Operator::max_pool:
    case Operator::average_pool:
    case Operator::reduce_sum:
    case Operator::reduce_mean:
    case Operator::reduce_max:
    case Operator::reduce_min:
    case Operator::reduce_prod:
    case Operator::softmax:
    case Operator::arg_max:
    case Operator::arg_min:
    case Operator::sort_rank:
    case Operator::top_k:
    case Operator::cumulative_sum:
    case Operator::cumulative_prod:
    case Operator::scatter:
    case Operator::layer_norm: return OperatorKind::anchor;
#define FERRY_CASE(name, inputs, attributes) case Operator::name:
      FERRY_GRAPH_UNARY(FERRY_CASE)
      FERRY_GRAPH_BINARY(FERRY_CASE)
#undef FERRY_CASE
    case Operator::where:
    case Operator::cast:
    case Operator::batch_norm: return OperatorKind::elementwise;
    case Operator::broadcast:
    case Operator::transpose:
    case Operator::slice:
    case Operator::pad:
    case Operator::concat:
    case Operator::convert:
    case Operator::gather:
    case Operator::gather_elements:
    case Operator::iota:
    case Operator::sizes: return OperatorKind::movement;
    case Operator::reshape: return OperatorKind::view;
    case Operator::loop:
    case Operator::end_loop: return OperatorKind::control;
  }
  throw InternalError("kind_of: unknown operator");
}

bool has_kernel(const Node& node) {
  const OperatorKind kind = kind_of(node.op);
  return !node.in_place && kind != OperatorKind::view && kind != OperatorKind::control;
}

bool is_per_channel(Operator op, std::size_t input) {
  return (op == Operator::conv && input == 2) || (op == Operator::quantized_conv && input == 3) ||
         (op == Operator::batch_norm && input > 0);
}

}  // namespace ferry::graph
