// Compiles whole networks for each architecture, runs them on a server of that architecture (in an emulator unless it
// is this machine's) and compares the results with the reference evaluator. Each emulated architecture takes a drawn
// third of the networks, this machine's two thirds of them, and all take all of them with FERRY_NETWORKS_ALL, as in
// networks_long_test; FERRY_NETWORKS_SEED draws others.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "ferry/compile.h"
#include "host/graph/compile/compile_network.h"
#include "module/manifest.h"
#include "tests/paths.h"
#include "tests/support/architectures/architectures.h"
#include "tests/support/emulated_target.h"
#include "tests/support/listening_server.h"
#include "tests/support/network_builder.h"
#include "tests/support/networks/quantized_network.h"
#include "tests/support/networks/run_network.h"
#include "tests/support/networks/small_networks.h"
#include "tests/support/sample.h"

using namespace ferry;
using namespace ferry::graph;
using namespace ferry::test;

namespace {

constexpr std::array<std::string_view, 3> kEmulated = {"armv7", "aarch64", "riscv64"};
constexpr std::string_view kOnlyEmulated = "aarch64";

// Runs networks on one server, which takes the networks that are drawn for its architecture.
class Runs {
 public:
  explicit Runs(const std::string& arch)
      : arch_(arch),
        takes_all_(std::getenv("FERRY_NETWORKS_ALL") != nullptr),
        server_(std::string(FERRY_SOURCE_DIR) + "/build/device/" + arch + "/static/rpc_server", emulator_of(arch),
                {"--threads", "2", "--quiet"}),
        device_(connect(server_.address())) {}

  const Device& device() const { return device_; }

  void run(const std::string& name, const Graph& graph, const std::vector<NetworkSizes>& all_sizes) {
    run(name, target_of(device_), graph, all_sizes);
  }
  void run(const std::string& name, const Target& target, const Graph& graph,
           const std::vector<NetworkSizes>& all_sizes, const NetworkSizes& expected = {}) {
    const std::uint64_t seed = sample_seed("FERRY_NETWORKS_SEED");
    const std::string_view drawn = kEmulated[part_of(name, kEmulated.size(), seed)];
    if (!takes_all_ && (emulator_of(arch_).empty() ? drawn == kOnlyEmulated : drawn != arch_)) return;
    ++count_;
    CAPTURE(name);
    CAPTURE(target.text);
    CHECK(wrong_results(device_, target, graph, all_sizes, expected) == "");
  }
  int count() const { return count_; }

 private:
  std::string arch_;
  bool takes_all_;
  ListeningServer server_;
  Device device_;
  int count_ = 0;
};

void run_all(const std::string& arch) {
  Runs runs(arch);
  const Target target = target_of(runs.device()), integers_target = target_for_truncation(runs.device());
  const Size n = Size::symbol("N"), l = Size::symbol("L");
  runs.run("residual", residual_network(1), {{}});
  runs.run("residual, any batch", residual_network(n), {{{"N", 1}}, {{"N", 3}}});
  runs.run("mobile, any batch", mobile_network(n), {{{"N", 2}}});
  const Graph with_layouts = optimized(image_network(n), target);
  CHECK(std::ranges::any_of(with_layouts.tensors, [](const Tensor& tensor) { return tensor.channel_block > 1; }) ==
        (target.lanes(sizeof(float)) > 1));
  runs.run("image, any batch", image_network(n), {{{"N", 1}}, {{"N", 2}}});
  const Size h = Size::symbol("H"), w = Size::symbol("W");
  runs.run("image, any size", target, image_network(n, h, w),
           {{{"N", 1}, {"H", 21}, {"W", 19}}, {{"N", 2}, {"H", 1}, {"W", 7}}, {{"N", 1}, {"H", 33}, {"W", 18}}},
           {{"N", 1}, {"H", 21}, {"W", 19}});
  const NetworkSizes expected = {{"N", 1}, {"H", 20}, {"W", 20}};
  runs.run("filters, any size", target, filters_network(n, h, w),
           {expected, {{"N", 3}, {"H", 1}, {"W", 1}}, {{"N", 2}, {"H", 7}, {"W", 23}}, {{"N", 1}, {"H", 33}, {"W", 6}}},
           expected);
  runs.run("branching", branching_network(1), {{}});
  runs.run("branching, any batch", branching_network(n), {{{"N", 1}}, {{"N", 2}}});
  runs.run("quantized", integers_target, quantized_network(1), {{}});
  runs.run("quantized, any batch", integers_target, quantized_network(n), {{{"N", 2}}});
  runs.run("encoder", encoder_network(2, 5), {{}});
  runs.run("encoder, any size", encoder_network(n, l), {{{"N", 1}, {"L", 7}}, {{"N", 3}, {"L", 4}}});
  runs.run("recurrent", recurrent_network(2, 5), {{}});
  runs.run("recurrent, any size", recurrent_network(n, l),
           {{{"N", 3}, {"L", 11}}, {{"N", 1}, {"L", 1}}, {{"N", 2}, {"L", 2}}});
  runs.run("searching", searching_network(9), {{}});
  runs.run("searching, any length", searching_network(l), {{{"L", 1}}, {{"L", 3}}, {{"L", 40}}});
  MESSAGE(runs.count() << " networks on " << arch);
  CHECK(runs.count() > 0);
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
  CHECK(wrong_results(device, target_of(device), network.graph, {{}}) == "");
}
