// Where attention becomes one kernel.
#include "host/graph/passes/fuse_attention.h"

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "host/graph/passes/make_groups.h"
#include "tests/support/network_builder.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

// Returns the number of kernels of attention with scores of this shape, two products and a softmax between them.
std::size_t kernels_of(const Shape& scores, const std::string& target, DType dtype = DType::f32) {
  NetworkBuilder network;
  Shape queries = scores, keys = scores;
  queries.back() = 16;
  keys[keys.size() - 2] = 16;
  Shape values = keys;
  std::swap(values[values.size() - 1], values[values.size() - 2]);
  const TensorId product = network.node(
      Operator::matmul, {network.input("q", queries, dtype), network.input("k", keys, dtype)}, MatmulAttributes{});
  const TensorId weights = network.node(Operator::softmax, {product}, DimensionAttributes{scores.size() - 1});
  network.output(network.node(Operator::matmul, {weights, network.input("v", values, dtype)}, MatmulAttributes{}), "y");
  const Graph fused = fuse_attention(network.graph, resolve_target(target));
  validate(fused);
  CHECK(std::ranges::none_of(std::span(fused.nodes).first(2), [](const Node& node) {
    const auto* matmul = std::get_if<MatmulAttributes>(&node.attributes);
    return matmul != nullptr && matmul->fuses_rows;
  }));
  return make_groups(fused).size();
}

const std::string kTarget = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -l2-bytes=1048576";

}  // namespace

TEST_CASE("attention is one kernel where its scores exceed twice the second-level cache") {
  CHECK(kernels_of({1, 12, 256, 256}, kTarget) == 1);
  CHECK(kernels_of({12, 256, 256}, kTarget) == 1);
  CHECK(kernels_of({1024, 1024}, kTarget) == 1);
  CHECK(kernels_of({1, 12, 128, 128}, kTarget) == 3);
  CHECK(kernels_of({1, 12, 256, 256}, "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -l2-bytes=2097152") == 3);
}

TEST_CASE("attention of open lengths is one kernel, and that of a few queries is not") {
  const Size batch = Size::symbol("N"), length = Size::symbol("T");
  CHECK(kernels_of({batch, 12, length, length}, kTarget) == 1);
  CHECK(kernels_of({batch, 12, 128, 128}, kTarget) == 3);
  CHECK(kernels_of({batch, 12, 64, length}, kTarget) == 1);
  CHECK(kernels_of({batch, 12, 1, length}, kTarget) == 3);
  CHECK(kernels_of({batch, 12, length, length + Size::symbol("P")}, kTarget) == 3);
  CHECK(kernels_of({1, 12, 4, 100000}, kTarget) == 3);
  CHECK(kernels_of({1, 12, 1024, 1024}, kTarget, DType::f64) == 3);
}

TEST_CASE("products without a softmax between them stay apart") {
  NetworkBuilder network;
  const TensorId first = network.node(
      Operator::matmul, {network.input("a", {1024, 64}), network.input("b", {64, 1024})}, MatmulAttributes{});
  const TensorId relu = network.node(Operator::relu, {first});
  network.output(network.node(Operator::matmul, {relu, network.input("c", {1024, 64})}, MatmulAttributes{}), "y");
  const Graph fused = fuse_attention(network.graph, resolve_target(kTarget));
  CHECK(!std::get<MatmulAttributes>(fused.nodes[2].attributes).fuses_rows);
  CHECK(make_groups(fused).size() == 2);
}
