// Networks that are compiled to modules.
#include "host/graph/compile/compile_network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "crosscompile/target/resolve.h"
#include "ferry/hash.h"
#include "module/module_file.h"
#include "module/step_nodes.h"
#include "tests/support/network_builder.h"

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

TEST_CASE("an output of a network may be an empty constant") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {4});
  network.output(network.node(Operator::neg, {x}), "y");
  network.output(network.constant<float>("none", {0, 3}, {}, DType::f32), "empty");
  const CompiledNetwork compiled = compile_network(network.graph, resolve_target("x86-64-v3"));
  const Result<ModuleFile> module = read_module(compiled.module);
  REQUIRE(module.is_ok());
  REQUIRE(module.value().manifest.blobs.size() == 1);
  const Blob& blob = module.value().manifest.blobs.front();
  CHECK(blob.bytes == 1);
  REQUIRE(compiled.blobs != nullptr);
  REQUIRE(compiled.blobs->has(blob.hash));
  std::vector<std::uint8_t> contents(1, 7);
  compiled.blobs->read(blob.hash, 0, contents);
  CHECK(contents.front() == 0);
  CHECK(blob.hash == blake2b(contents));
}

// Kernels that combine what others have reduced, or that check indices, may be small: each node has one that is not.
TEST_CASE("on a GPU every node over a large tensor has a kernel of many threads") {
  constexpr std::int64_t kRows = 64, kColumns = 300;
  NetworkBuilder network;
  const TensorId x = network.input("x", {kRows, kColumns}), rows = network.input("rows", {kRows}, DType::i64);
  const auto add = [&](Operator op, std::vector<TensorId> inputs, Attributes attributes) {
    network.output(network.node(op, std::move(inputs), std::move(attributes)), operator_name(op));
  };
  add(Operator::relu, {x}, {});
  add(Operator::transpose, {x}, TransposeAttributes{{1, 0}});
  add(Operator::concat, {x, x}, DimensionAttributes{1});
  add(Operator::pad, {x}, PadAttributes{{1, 1}, {2, 2}});
  add(Operator::slice, {x}, SliceAttributes{{3, 5}, {1, 2}, {60, 100}});
  add(Operator::gather, {x, rows}, DimensionAttributes{0});
  add(Operator::softmax, {x}, DimensionAttributes{1});
  add(Operator::layer_norm, {x, network.weights("scale", {kColumns}), network.weights("bias", {kColumns})},
      LayerNormAttributes{1});
  add(Operator::reduce_sum, {x}, ReduceAttributes{{0, 1}});
  add(Operator::reduce_mean, {x}, ReduceAttributes{{0}});
  add(Operator::reduce_max, {x}, ReduceAttributes{{1}});
  add(Operator::matmul, {x, network.weights("w", {kColumns, 50})}, MatmulAttributes{});
  for (const char* target : {"opencl", "cuda -arch=sm_80 -compiler=llvm"}) {
    CAPTURE(target);
    const Result<ModuleFile> module = read_module(compile_network(network.graph, resolve_target(target)).module);
    REQUIRE(module.is_ok());
    const FunctionInfo& function = module.value().manifest.functions.at(0);
    std::map<std::string, std::int64_t> most;  // threads of the node's largest kernel
    std::vector<std::int64_t> values;
    for (const ManifestExpr& value : function.plan.values) values.push_back(evaluate(value, values).value());
    const std::vector<std::string> nodes = step_nodes(module.value()).value();
    for (std::size_t step = 0; step < nodes.size(); ++step) {
      const auto& launch = std::get<LaunchStep>(function.plan.steps[step]);
      std::int64_t threads = 1;
      for (const auto& extents : {launch.grid, launch.block})
        for (const ValueIndex extent : extents) threads *= extent == kNoValue ? 1 : values.at(extent);
      most[nodes[step]] = std::max(most[nodes[step]], threads);
    }
    CHECK(most.size() == network.graph.nodes.size());
    for (const auto& [node, threads] : most) {
      CAPTURE(node);
      CHECK(threads >= 128);
    }
  }
}
