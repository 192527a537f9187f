// Networks that are compiled to modules.
#include "host/graph/compile/compile_network.h"

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "ferry/hash.h"
#include "module/module_file.h"
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
