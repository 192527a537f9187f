// Runs whole networks on PoCL, which is OpenCL on this CPU.

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "ferry/error.h"
#include "host/graph/compile/compile_network.h"
#include "tests/paths.h"
#include "tests/support/listening_server.h"
#include "tests/support/network_builder.h"
#include "tests/support/networks/run_network.h"
#include "tests/support/networks/small_networks.h"

using namespace ferry;
using namespace ferry::graph;
using namespace ferry::test;

namespace {

class OpenClServer {
 public:
  Device connect() const {
    ConnectOptions options;
    options.devices = {"opencl"};
    return ferry::connect(server_.address(), options);
  }

 private:
  ListeningServer server_{FERRY_BINARY_DIR "/device-runtime/rpc_server", {}, {"--quiet"}};
};

const Target kTarget = resolve_target("opencl");

void run_network(const Device& device, const Graph& graph, const std::vector<NetworkSizes>& all_sizes) {
  CAPTURE(graph.name);
  CHECK(wrong_results(device, kTarget, graph, all_sizes) == "");
}

}  // namespace

TEST_CASE("networks give the right answer on an OpenCL device") {
  const OpenClServer server;
  const Device device = server.connect();
  const Size n = Size::symbol("N"), l = Size::symbol("L");
  run_network(device, residual_network(n), {{{"N", 1}}, {{"N", 3}}});
  run_network(device, mobile_network(2), {{}});
  run_network(device, image_network(n), {{{"N", 2}}});
  run_network(device, branching_network(1), {{}});
  run_network(device, encoder_network(n, l), {{{"N", 1}, {"L", 7}}, {{"N", 3}, {"L", 4}}});
  run_network(device, recurrent_network(n, l), {{{"N", 3}, {"L", 11}}, {{"N", 1}, {"L", 1}}});
  run_network(device, searching_network(l), {{{"L", 1}}, {{"L", 3}}, {{"L", 40}}});
}

TEST_CASE("an index outside of a table ends a network on an OpenCL device with the node's name") {
  const OpenClServer server;
  const Device device = server.connect();
  // The nodes after the one that fails use the arena again.
  NetworkBuilder network("embedding");
  const TensorId tokens = network.input("tokens", {3}, DType::i64);
  TensorId x =
      network.node(Operator::gather, {network.weights("table", {20, 16}), tokens}, DimensionAttributes{0}, "lookup");
  for (int node = 0; node < 3; ++node) x = network.node(Operator::softmax, {x}, DimensionAttributes{1});
  network.output(x, "y");
  CompiledNetwork compiled = compile_network(network.graph, kTarget);
  const Function embedding = device.load(CompiledModule(std::move(compiled.module), compiled.blobs))["embedding"];
  const std::vector<std::int64_t> indices = {3, 20, 5};
  const auto call = [&] {
    embedding.call({View{DType::i64, {3}, indices.data()}});
    device.synchronize();
  };
  CHECK_THROWS_WITH_AS(call(), doctest::Contains("lookup: "), Error);
}
