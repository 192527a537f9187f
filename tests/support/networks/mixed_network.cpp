#include "tests/support/networks/mixed_network.h"

#include "tests/support/network_builder.h"

namespace ferry::test {

using namespace graph;

Graph mixed_network(const Size& length) {
  NetworkBuilder network("mixed");
  const TensorId x = network.input("x", {2, length});
  const TensorId scale = network.weights("scale", {2, 1}, 0.25F, 1);
  const TensorId scaled = network.node(Operator::mul, {x, scale}, {}, "scaled");
  const TensorId softer = network.node(Operator::softmax, {scaled}, DimensionAttributes{1}, "softer");
  CumulativeAttributes forward, backward;
  forward.dimension = backward.dimension = 1;
  backward.backwards = true;
  const TensorId sum = network.node(Operator::cumulative_sum, {softer}, forward, "sum");
  const TensorId rest = network.node(Operator::cumulative_sum, {softer}, backward, "rest");
  const TensorId total = network.node(Operator::cumulative_sum,
                                      {network.node(Operator::mul, {sum, scale}, {}, "again")}, forward, "total");
  const TensorId both = network.node(Operator::add, {sum, rest}, {}, "both");
  const TensorId result = network.node(Operator::softmax, {both}, DimensionAttributes{1}, "result");
  network.output(result, "y");
  network.output(network.node(Operator::mul, {total, scale}, {}, "scaled_total"), "sums");
  network.output(rest, "rest_output");
  return std::move(network.graph);
}

Graph mixed_parts_network() {
  constexpr std::int64_t kLength = 2048;
  NetworkBuilder network("mixed_parts");
  const TensorId x = network.input("x", {2, kLength});
  CumulativeAttributes along;
  along.dimension = 1;
  const TensorId soft = network.node(Operator::softmax, {x}, DimensionAttributes{1}, "soft");
  const TensorId sum = network.node(Operator::cumulative_sum, {x}, along, "sum");
  const TensorId fixed = network.weights("fixed", {1, kLength});
  const TensorId all = network.node(Operator::concat, {soft, sum, fixed}, DimensionAttributes{0}, "all");
  network.output(network.node(Operator::softmax, {all}, DimensionAttributes{1}, "of_all"), "y");
  const TensorId some = network.node(Operator::slice, {all}, SliceAttributes{{1, 0}, {1, 1}, {3, kLength}}, "some");
  network.output(network.node(Operator::cumulative_sum, {some}, along, "of_some"), "sums");
  return std::move(network.graph);
}

}  // namespace ferry::test
