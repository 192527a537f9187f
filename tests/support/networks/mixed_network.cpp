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

Graph mixed_loops_network(const Size& length, std::int64_t width) {
  constexpr std::int64_t kRows = 3;
  NetworkBuilder network("mixed_loops");
  const auto sum = [&](TensorId input, std::uint32_t dimension, const char* name) {
    CumulativeAttributes along;
    along.dimension = dimension;
    return network.node(Operator::cumulative_sum, {input}, along, name);
  };
  const auto begin = [&](const Size& count, std::vector<TensorId> inputs, std::vector<LoopTensor> tensors) {
    network.node(Operator::loop, std::move(inputs), LoopAttributes{count, std::move(tensors)});
    return network.graph.nodes.back().outputs;
  };
  const auto end = [&](const Size& count, std::vector<TensorId> inputs, std::vector<LoopTensor> tensors) {
    network.node(Operator::end_loop, std::move(inputs), LoopAttributes{count, std::move(tensors)});
    return network.graph.nodes.back().outputs;
  };
  const TensorId x = network.input("x", {length, width}), s = network.input("s", {width}),
                 rows = network.input("rows", {kRows, width});
  const TensorId start = sum(s, 0, "start"), fixed = sum(network.node(Operator::neg, {s}), 0, "fixed");

  const Size count = length - 1;
  const TensorId rest = network.node(Operator::slice, {x}, SliceAttributes{{1, 0}, {1, 1}, {count, width}});
  const std::vector<TensorId> first = begin(count, {start, rest}, {{}});
  const TensorId added = network.node(Operator::add, {network.node(Operator::tanh, {first[0]}), first[1]});
  const TensorId state = end(count, {network.node(Operator::add, {added, fixed}, {}, "state")}, {})[0];
  network.output(state, "state");
  network.output(network.node(Operator::mul, {fixed, state}), "behind");

  const std::vector<TensorId> second = begin(kRows, {sum(state, 0, "again"), sum(rows, 1, "sums")}, {{}});
  const TensorId next = network.node(Operator::tanh, {network.node(Operator::add, {second[0], second[1]})}, {}, "next");
  const std::vector<TensorId> last =
      end(kRows, {next, network.node(Operator::mul, {next, fixed}, {}, "entry")}, {{.is_backwards = true}});
  network.output(sum(last[0], 0, "last"), "y");
  network.output(sum(last[1], 1, "entries"), "ys");
  return std::move(network.graph);
}

}  // namespace ferry::test
