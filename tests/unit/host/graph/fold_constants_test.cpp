// What depends on constants alone is computed once.
#include "host/graph/reference/fold_constants.h"

#include <doctest/doctest.h>

#include <cstring>

#include "host/graph/index_limits.h"
#include "tests/support/network_builder.h"

namespace ferry::graph {
namespace {

using test::NetworkBuilder;

std::vector<float> floats_of(const Tensor& tensor) {
  REQUIRE(tensor.constant != nullptr);
  std::vector<float> values(tensor.constant->bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.constant->bytes.data(), tensor.constant->bytes.size());
  return values;
}

TEST_CASE("a chain of nodes of constants becomes a constant, and those that read an input stay") {
  NetworkBuilder network;
  const TensorId a = network.constant<float>("a", {3}, {1, 2, 3}, DType::f32),
                 b = network.constant<float>("b", {3}, {10, 20, 30}, DType::f32);
  const TensorId sum = network.node(Operator::add, {a, b}, {}, "sum"),
                 negative = network.node(Operator::neg, {sum}, {}, "negative");
  network.output(network.node(Operator::mul, {network.input("x", {3}), negative}, {}, "product"), "y");
  const Graph folded = fold_constants(network.graph);
  validate(folded);
  REQUIRE(folded.nodes.size() == 1);
  CHECK(floats_of(folded.tensor(folded.nodes[0].inputs[1])) == std::vector<float>{-11, -22, -33});
}

TEST_CASE("a result that takes more memory than what it is computed from is computed in each call") {
  NetworkBuilder network;
  const TensorId row = network.constant<float>("row", {1, 3}, {1, 2, 3}, DType::f32),
                 column = network.constant<float>("column", {3, 1}, {1, 2, 3}, DType::f32);
  network.output(network.node(Operator::mul, {row, column}, {}, "table"), "y");
  CHECK(fold_constants(network.graph).nodes.size() == 1);
}

TEST_CASE("an index that is out of bounds stays, so that the call reports it") {
  NetworkBuilder network;
  const TensorId table = network.constant<float>("table", {4}, {1, 2, 3, 4}, DType::f32),
                 place = network.constant<std::int64_t>("place", {1}, {9}, DType::i64);
  network.output(network.node(Operator::gather, {table, place}, DimensionAttributes{0}, "gather"), "y");
  CHECK(fold_constants(network.graph).nodes.size() == 1);
}

TEST_CASE("an input of indices has the rows of the smallest table as its limit, also if it is moved before") {
  NetworkBuilder network;
  const TensorId words = network.input("words", {2, 3}, DType::i64), x = network.input("x", {4}),
                 free = network.input("free", {3}, DType::i64);
  const TensorId flat = network.node(Operator::reshape, {words}, ReshapeAttributes{{6}}, "flat");
  const TensorId large = network.weights("large", {9, 2}), small = network.weights("small", {5, 2});
  network.output(network.node(Operator::gather, {large, words}, DimensionAttributes{0}, "first"), "y");
  network.output(network.node(Operator::gather, {small, flat}, DimensionAttributes{0}, "second"), "z");
  network.output(network.node(Operator::add, {free, free}, {}, "sum"), "s");
  network.output(network.node(Operator::neg, {x}, {}, "negative"), "n");
  CHECK(index_limits(network.graph) == std::map<std::size_t, std::int64_t>{{0, 5}});
}

}  // namespace
}  // namespace ferry::graph
