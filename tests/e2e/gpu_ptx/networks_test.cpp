// Runs whole networks as PTX of LLVM and of NVRTC.
#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "tests/e2e/gpu_ptx/ptx_device.h"
#include "tests/support/networks/mixed_network.h"
#include "tests/support/networks/run_network.h"
#include "tests/support/networks/small_networks.h"
#include "tests/support/ptxas.h"

using namespace ferry;
using namespace ferry::test;

namespace {

void run_networks(const PtxDevice& server, const std::string& text) {
  use_test_packages();
  const Target target = resolve_target(text);
  const Device device = server.connect();
  const graph::Size n = graph::Size::symbol("N"), l = graph::Size::symbol("L");
  CHECK(wrong_results(device, target, residual_network(n), {{{"N", 2}}}) == "");
  CHECK(wrong_results(device, target, mobile_network(1), {{}}) == "");
  CHECK(wrong_results(device, target, image_network(1), {{}}) == "");
  CHECK(wrong_results(device, target, encoder_network(n, l), {{{"N", 2}, {"L", 5}}, {{"N", 1}, {"L", 8}}}) == "");
  CHECK(wrong_results(device, target, recurrent_network(n, l), {{{"N", 3}, {"L", 4}}, {{"N", 1}, {"L", 1}}}) == "");
  const Target with_host = resolve_target(text + " -host=host");
  CHECK(wrong_results(device, with_host, mixed_network(1500), {{}}) == "");
}

}  // namespace

TEST_CASE("networks give the right answer as PTX of LLVM, without races") {
  run_networks(PtxDevice(), "cuda -arch=sm_80 -compiler=llvm");
}

TEST_CASE("networks give the right answer as PTX that NVRTC makes of the CUDA C") {
  if (!has_nvrtc()) return;
  run_networks(PtxDevice({"FERRY_FAKE_CUDA_SEED=1"}), "cuda -arch=sm_80 -compiler=nvrtc");
}
