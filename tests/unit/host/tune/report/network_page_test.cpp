#include "host/tune/report/network_page.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ferry;
using tune::KernelState;
using tune::NetworkKernelResult;

namespace {

NetworkKernelResult kernel(const std::string& name, KernelState state, double seconds) {
  NetworkKernelResult result;
  result.kernel = name;
  result.nodes = {"/" + name};
  result.state = state;
  result.seconds = seconds;
  return result;
}

}  // namespace

TEST_CASE("the page of a network says of each kernel what became of it, those first that take the longest") {
  tune::TunedNetwork tuned;
  tuned.function = "net";
  tuned.kernels = {kernel("short", KernelState::pruned, 1e-6), kernel("slower", KernelState::tuned, 2e-3),
                   kernel("faster", KernelState::tuned, 3e-3), kernel("broken", KernelState::failed, 1e-3)};
  tuned.kernels[1].point = "C: tile=1x1\n";
  tuned.kernels[1].share_in_network = 1.25;
  tuned.kernels[2].point = "C: tile=14x2\nC: order=rows\n";
  tuned.kernels[2].share_in_network = 0.8;
  tuned.kernels[2].is_used = true;
  tuned.kernels[2].algorithm = "winograd2";
  tuned.kernels[2].point_algorithm = "direct";
  tuned.kernels[2].others = {{"direct", KernelState::tuned, {}, 1.25, 7, 0.8},
                             {"winograd4", KernelState::waiting, {}, 2}};
  tuned.kernels[3].reason = "a <bad> kernel";
  tune::ShownTrial trial;
  trial.record.device = "pi";
  trial.elapsed_seconds = 2;
  trial.expected_share = 0.9;
  const std::string page = tune::network_page({tuned, {trial}, "1.2"});
  const auto at = [&](const std::string& part) { return page.find(part); };
  CHECK(at("<title>Tuning of net</title>") != std::string::npos);
  CHECK(at("faster") < at("slower"));
  CHECK(at(">broken<") < at(">short<"));
  CHECK(at("algorithm=direct; C: tile=14x2; C: order=rows") != std::string::npos);
  CHECK(at("winograd2; direct 1.25 (0.80 by estimates); winograd4 0.50 by estimates") != std::string::npos);
  CHECK(at("not faster in the network: C: tile=1x1") != std::string::npos);
  CHECK(at("1.25") != std::string::npos);
  CHECK(at("has little to gain") != std::string::npos);
  CHECK(at("a &lt;bad&gt; kernel") != std::string::npos);
  CHECK(at("<bad>") == std::string::npos);
  CHECK(at("would take 90%") != std::string::npos);
  CHECK(at("The network was not compared") != std::string::npos);
}
