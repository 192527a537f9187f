// The groups of small networks.
#include "host/graph/passes/make_groups.h"

#include <doctest/doctest.h>

#include "tests/support/network_builder.h"

#include <string>
#include <vector>

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

const ConvAttributes kConv3x3 = {{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 1};

std::vector<std::string> group_names(const Graph& graph) {
  validate(graph);
  std::vector<std::string> names;
  for (const Group& group : make_groups(graph)) names.push_back(name_of(graph, group));
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a convolution takes the bias, the residual and the activation after it") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 4, 8, 8});
  const TensorId conv = network.node(Operator::conv, {x, network.weights("w", {4, 4, 3, 3})}, kConv3x3, "conv");
  const TensorId bias = network.node(Operator::add, {conv, network.weights("b", {4, 1, 1})}, {}, "bias");
  const TensorId sum = network.node(Operator::add, {x, bias}, {}, "sum");
  network.output(network.node(Operator::relu, {sum}, {}, "relu"), "y");
  CHECK(group_names(network.graph) == Names{"conv+bias+sum+relu"});
}

TEST_CASE("an activation that reads its input several times joins as a whole") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 4, 8, 8});
  const TensorId conv = network.node(Operator::conv, {x, network.weights("w", {4, 4, 3, 3})}, kConv3x3, "conv");
  const TensorId gate = network.node(Operator::sigmoid, {conv}, {}, "sigmoid");
  network.output(network.node(Operator::mul, {conv, gate}, {}, "mul"), "y");
  CHECK(group_names(network.graph) == Names{"conv+sigmoid+mul"});
}

TEST_CASE("a tensor that is read outside ends a group") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 4, 8, 8});
  const TensorId conv = network.node(Operator::conv, {x, network.weights("w", {4, 4, 3, 3})}, kConv3x3, "conv");
  const TensorId relu = network.node(Operator::relu, {conv}, {}, "relu");
  const TensorId tanh = network.node(Operator::tanh, {relu}, {}, "tanh");
  const TensorId pool = network.node(Operator::reduce_mean, {relu}, ReduceAttributes{{2, 3}, true}, "mean");
  SUBCASE("by an operator that is not elementwise") {
    network.output(network.node(Operator::mul, {tanh, pool}, {}, "mul"), "y");
    CHECK(group_names(network.graph) == Names{"conv+relu", "mean", "tanh+mul"});
  }
  SUBCASE("by the caller") {
    network.output(conv, "y");
    network.output(tanh, "z");
    network.output(pool, "p");
    CHECK(group_names(network.graph) == Names{"conv", "relu", "tanh", "mean"});
  }
}

TEST_CASE("one of two convolutions takes their sum") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 4, 8, 8});
  const TensorId a = network.node(Operator::conv, {x, network.weights("a", {4, 4, 3, 3})}, kConv3x3, "a");
  const TensorId b = network.node(Operator::conv, {x, network.weights("b", {4, 4, 3, 3})}, kConv3x3, "b");
  const TensorId sum = network.node(Operator::add, {a, b}, {}, "sum");
  network.output(network.node(Operator::relu, {sum}, {}, "relu"), "y");
  CHECK(group_names(network.graph) == Names{"b", "a+sum+relu"});
}

TEST_CASE("the group that reads bytes in place widens them, unless others read them too") {
  const auto names_with = [](bool is_read_elsewhere) {
    NetworkBuilder network;
    const TensorId x = network.input("x", {2, 4, 8, 8});
    const TensorId a = network.node(Operator::conv, {x, network.weights("a", {4, 4, 3, 3})}, kConv3x3, "a");
    const TensorId b = network.node(Operator::conv, {x, network.weights("b", {4, 4, 3, 3})}, kConv3x3, "b");
    const TensorId bytes = network.node(Operator::cast, {b}, CastAttributes{DType::u8}, "bytes");
    const TensorId wide = network.node(Operator::cast, {bytes}, CastAttributes{DType::f32}, "wide");
    const TensorId scaled = network.node(Operator::neg, {wide}, {}, "neg");
    network.output(network.node(Operator::add, {a, scaled}, {}, "sum"), "y");
    if (is_read_elsewhere) network.output(scaled, "z");
    return group_names(network.graph);
  };
  CHECK(names_with(false) == Names{"b+bytes", "a+wide+neg+sum"});
  CHECK(names_with(true) == Names{"b+bytes+wide+neg", "a+sum"});
}

TEST_CASE("results of another shape and per-channel inputs do not join") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 4, 1, 1}), wide = network.input("wide", {2, 4, 8, 8});
  const TensorId narrow = network.node(Operator::sigmoid, {x}, {}, "narrow");
  const TensorId scaled = network.node(Operator::mul, {narrow, wide}, {}, "mul");
  network.output(scaled, "y");
  const TensorId scale = network.node(Operator::abs, {network.input("scale", {4})}, {}, "abs");
  const TensorId ones = network.weights("ones", {4});
  network.output(network.node(Operator::batch_norm, {scaled, scale, ones, ones, ones}, BatchNormAttributes{}, "norm"),
                 "z");
  CHECK(group_names(network.graph) == Names{"narrow", "mul", "abs", "norm"});
}

TEST_CASE("chains of elementwise nodes that meet are one group") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {3, 5}), z = network.input("z", {3, 5});
  const TensorId tanh = network.node(Operator::tanh, {network.node(Operator::neg, {x}, {}, "neg")}, {}, "tanh");
  const TensorId exp = network.node(Operator::exp, {z}, {}, "exp");
  network.output(network.node(Operator::mul, {tanh, exp}, {}, "mul"), "y");
  CHECK(group_names(network.graph) == Names{"neg+tanh+exp+mul"});
}

TEST_CASE("reshapes have no group and end those before them") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {3, 4});
  const TensorId neg = network.node(Operator::neg, {x}, {}, "neg");
  const TensorId flat = network.node(Operator::reshape, {neg}, ReshapeAttributes{{12}}, "flat");
  network.output(network.node(Operator::relu, {flat}, {}, "relu"), "y");
  CHECK(group_names(network.graph) == Names{"neg", "relu"});
}

TEST_CASE("a group has a limited number of operations, counted at each use") {
  NetworkBuilder network;
  TensorId x = network.input("x", {4});
  for (int doubling = 0; doubling < 12; ++doubling) x = network.node(Operator::mul, {x, x});
  network.output(x, "y");
  CHECK(make_groups(network.graph).size() == 2);
}

TEST_CASE("outputs that end groups change no group") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 4, 8, 8});
  TensorId y = x;
  for (const char* name : {"a", "b"}) {
    y = network.node(Operator::conv, {y, network.weights("w", {4, 4, 3, 3})}, kConv3x3, name);
    y = network.node(Operator::relu, {network.node(Operator::add, {y, x}, {}, "sum")}, {}, "relu");
  }
  network.output(network.node(Operator::reduce_max, {y}, ReduceAttributes{{2, 3}, true}, "max"), "y");
  const std::vector<Group> groups = make_groups(network.graph);
  CHECK(groups.size() == 3);
  for (const Group& group : groups) network.output(output_of(network.graph, group), "more");
  CHECK(make_groups(network.graph) == groups);
}

TEST_CASE("the name of a group leaves out paths after the first, and nodes of one name") {
  NetworkBuilder network;
  TensorId x = network.input("x", {2, 4, 8, 8});
  x = network.node(Operator::conv, {x, network.weights("w", {4, 4, 3, 3})}, kConv3x3, "/layer/conv/Conv");
  x = network.node(Operator::maximum, {x, network.constant<float>("zero", {}, {0}, DType::f32)}, {}, "/layer/Clip");
  x = network.node(Operator::minimum, {x, network.constant<float>("six", {}, {6}, DType::f32)}, {}, "/layer/Clip");
  network.output(x, "y");
  const Group group = make_groups(network.graph).front();
  CHECK(name_of(network.graph, group) == "/layer/conv/Conv+Clip");
  CHECK(operators_of(network.graph, group) == "conv_maximum_minimum");
}

TEST_CASE("a product that fuses its rows takes the softmax and the scores, unless others read these") {
  NetworkBuilder network;
  const TensorId q = network.input("q", {2, 3, 7, 5}), k = network.input("k", {2, 3, 11, 5}),
                 v = network.input("v", {2, 3, 11, 4}), mask = network.input("mask", {7, 11}, DType::boolean);
  const TensorId least = network.constant<float>("least", {}, {-1e9F}, DType::f32);
  const TensorId scores = network.node(Operator::matmul, {q, k}, MatmulAttributes{false, true}, "scores");
  const TensorId masked = network.node(Operator::where, {mask, scores, least}, {}, "masked");
  const TensorId weights = network.node(Operator::softmax, {masked}, DimensionAttributes{3}, "weights");
  const TensorId product =
      network.node(Operator::matmul, {weights, v}, MatmulAttributes{.fuses_rows = true}, "product");
  network.output(network.node(Operator::tanh, {product}, {}, "tanh"), "y");
  SUBCASE("nothing else is read") { CHECK(group_names(network.graph) == Names{"scores+masked+weights+product+tanh"}); }
  SUBCASE("the scores are an output") {
    network.output(masked, "z");
    CHECK(group_names(network.graph) == Names{"scores+masked", "weights", "product+tanh"});
  }
  SUBCASE("the weights are read twice") {
    network.output(network.node(Operator::reduce_max, {weights}, ReduceAttributes{{3}, false}, "most"), "z");
    CHECK(group_names(network.graph) == Names{"scores+masked", "weights", "product+tanh", "most"});
  }
  SUBCASE("the softmax is over columns") {
    network.graph.nodes[2].attributes = DimensionAttributes{2};
    CHECK(group_names(network.graph) == Names{"scores+masked", "weights", "product+tanh"});
  }
}
