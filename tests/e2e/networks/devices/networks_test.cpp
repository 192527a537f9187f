// Compiles whole networks for each architecture, runs them on a server of that architecture (in an emulator unless it
// is this machine's) and compares the results with the reference evaluator.

#include <doctest/doctest.h>

#include <algorithm>

#include "ferry/compile.h"
#include "host/graph/compile/compile_network.h"
#include "module/manifest.h"
#include "tests/paths.h"
#include "tests/support/emulated_target.h"
#include "tests/support/listening_server.h"
#include "tests/support/network_builder.h"
#include "tests/support/networks/quantized_network.h"
#include "tests/support/networks/run_network.h"
#include "tests/support/networks/small_networks.h"

using namespace ferry;
using namespace ferry::graph;
using namespace ferry::test;

namespace {

void run_network(const Device& device, const Target& target, const Graph& graph,
                 const std::vector<NetworkSizes>& all_sizes) {
  CAPTURE(graph.name);
  CAPTURE(target.text);
  CHECK(wrong_results(device, target, graph, all_sizes) == "");
}

void run_all(const std::string& arch) {
  const ListeningServer server(std::string(FERRY_SOURCE_DIR) + "/build/device/" + arch + "/static/rpc_server",
                               emulator_of(arch), {"--threads", "2", "--quiet"});
  const Device device = connect(server.address());
  const Target target = target_of(device);
  const Size n = Size::symbol("N"), l = Size::symbol("L");
  run_network(device, target, residual_network(1), {{}});
  run_network(device, target, residual_network(n), {{{"N", 1}}, {{"N", 3}}});
  run_network(device, target, mobile_network(n), {{{"N", 2}}});
  const Graph with_layouts = optimized(image_network(n), target);
  CHECK(std::ranges::any_of(with_layouts.tensors, [](const Tensor& tensor) { return tensor.channel_block > 1; }) ==
        (target.lanes(sizeof(float)) > 1));
  run_network(device, target, image_network(n), {{{"N", 1}}, {{"N", 2}}});
  run_network(device, target, branching_network(1), {{}});
  run_network(device, target, branching_network(n), {{{"N", 1}}, {{"N", 2}}});
  const Target integers_target = target_for_truncation(device);
  run_network(device, integers_target, quantized_network(1), {{}});
  run_network(device, integers_target, quantized_network(n), {{{"N", 2}}});
  run_network(device, target, encoder_network(2, 5), {{}});
  run_network(device, target, encoder_network(n, l), {{{"N", 1}, {"L", 7}}, {{"N", 3}, {"L", 4}}});
  run_network(device, target, recurrent_network(2, 5), {{}});
  run_network(device, target, recurrent_network(n, l),
              {{{"N", 3}, {"L", 11}}, {{"N", 1}, {"L", 1}}, {{"N", 2}, {"L", 2}}});
}

}  // namespace

TEST_CASE("networks give the right answer on x86_64") { run_all("x86_64"); }
TEST_CASE("networks give the right answer on armv7") { run_all("armv7"); }
TEST_CASE("networks give the right answer on aarch64") { run_all("aarch64"); }
TEST_CASE("networks give the right answer on riscv64") { run_all("riscv64"); }

TEST_CASE("a network may have more kernels than a module has functions") {
  constexpr std::int64_t kNodes = kMaxFunctions + 4;
  NetworkBuilder network("shrinking");
  TensorId x = network.input("x", {kNodes + 8});
  for (std::int64_t node = 1; node <= kNodes; ++node)
    x = network.node(Operator::slice, {x}, SliceAttributes{{1}, {1}, {kNodes + 8 - node}});
  network.output(x, "y");
  const Device device = local_device();
  run_network(device, target_of(device), network.graph, {{}});
}
