// Networks of which a GPU leaves parts to the CPU beside it, on PoCL and that CPU.

#include <doctest/doctest.h>

#include <algorithm>

#include "crosscompile/target/resolve.h"
#include "ferry/error.h"
#include "host/graph/compile/compile_network.h"
#include "module/module_file.h"
#include "module/step_description.h"
#include "tests/paths.h"
#include "tests/support/listening_server.h"
#include "tests/support/network_builder.h"
#include "tests/support/networks/mixed_network.h"
#include "tests/support/networks/run_network.h"
#include "tests/support/networks/small_networks.h"

using namespace ferry;
using namespace ferry::graph;
using namespace ferry::test;

namespace {

const Target kTarget = resolve_target("opencl -host=host");

ModuleFile module_of(const CompiledNetwork& compiled) {
  Result<ModuleFile> module = read_module(compiled.module);
  REQUIRE_MESSAGE(module.is_ok(), module.status().message());
  return std::move(module.value());
}

std::vector<std::string> copies_of(const ModuleFile& module) {
  const Plan& plan = module.manifest.functions.front().plan;
  const std::vector<StepDescription> described = step_descriptions(module).value();
  REQUIRE(described.size() == plan.steps.size());
  std::vector<std::string> copies;
  for (std::size_t s = 0; s < described.size(); ++s)
    if (std::holds_alternative<CopyStep>(plan.steps[s])) copies.push_back(described[s].node);
  return copies;
}

struct OpenClSession {
  ListeningServer server{FERRY_BINARY_DIR "/device-runtime/rpc_server", {}, {"--quiet"}};
  Device device = [this] {
    ConnectOptions options;
    options.devices = {"opencl"};
    return ferry::connect(server.address(), options);
  }();
};

}  // namespace

TEST_CASE("a network with steps on a GPU and on the CPU beside it gives the right answer, time after time") {
  const OpenClSession session;
  for (int run = 0; run < 3; ++run) {
    CHECK(wrong_results(session.device, kTarget, mixed_network(1999), {{}}) == "");
    CHECK(wrong_results(session.device, kTarget, mixed_network(100'003), {{}}) == "");
    CHECK(wrong_results(session.device, kTarget, mixed_parts_network(), {{}}) == "");
  }
}

TEST_CASE("the CPU computes what is before, between and behind the loops of a GPU") {
  const OpenClSession session;
  const std::vector<NetworkSizes> sizes{{{"L", 4}}, {{"L", 1}}, {{"L", 2}}};
  for (const std::int64_t width : {1999, 2048}) {
    CAPTURE(width);
    const Graph network = mixed_loops_network(Size::symbol("L"), width);
    CHECK(wrong_results(session.device, kTarget, network, sizes) == "");
    CHECK(compile_network(network, kTarget).notes.size() == 2);
  }
}

TEST_CASE("what a loop reads from the CPU crosses in front of it, and once") {
  const std::vector<std::string> copies = copies_of(module_of(compile_network(mixed_loops_network(4, 2048), kTarget)));
  CHECK(std::ranges::count(copies, "copy of fixed to opencl") == 1);
}

TEST_CASE("kernels that a loop calls stay on the GPU") {
  NetworkBuilder network("sums");
  CumulativeAttributes along;
  along.dimension = 0;
  const LoopAttributes loop{5, {}};
  const TensorId state = network.node(Operator::loop, {network.input("x", {1999})}, loop);
  const TensorId sum = network.node(Operator::cumulative_sum, {state}, along);
  network.output(network.node(Operator::end_loop, {sum}, loop), "y");
  CHECK(compile_network(network.graph, kTarget).notes.empty());
}

TEST_CASE("a network whose only kernel runs on the CPU takes and returns tensors of the GPU") {
  NetworkBuilder network("sums");
  CumulativeAttributes along;
  along.dimension = 0;
  network.output(network.node(Operator::cumulative_sum, {network.input("x", {3001})}, along), "y");
  CHECK(wrong_results(OpenClSession().device, kTarget, network.graph, {{}}) == "");
}

TEST_CASE("kernels that the GPU's compiler refuses run on the CPU, unless it refuses all") {
  const std::string reason = "expected at most 512 bytes of shared memory";
  const Target small = resolve_target("opencl -max_shared_memory_per_block=512"),
               with_host = resolve_target(small.text + " -host=host");
  const auto softmax_of = [](bool is_scaled) {
    NetworkBuilder network("softmax");
    TensorId x = network.input("x", {3, 501});
    if (is_scaled) x = network.node(Operator::mul, {x, network.weights("scale", {3, 1})}, {}, "scaled");
    network.output(network.node(Operator::softmax, {x}, DimensionAttributes{1}, "soft"), "y");
    return std::move(network.graph);
  };
  CHECK(wrong_results(OpenClSession().device, with_host, softmax_of(true), {{}}) == "");
  const CompiledNetwork compiled = compile_network(softmax_of(true), with_host);
  CHECK(copies_of(module_of(compiled)) == std::vector<std::string>{"copy of scaled to cpu", "copy of soft to opencl"});
  REQUIRE(compiled.notes.size() == 1);
  CHECK(compiled.notes.front().find("node 'soft' (softmax) runs on the CPU beside the GPU: ") == 0);
  CHECK(compiled.notes.front().find(reason) != std::string::npos);
  for (const auto& [network, target] : {std::pair(softmax_of(true), small), {softmax_of(false), with_host}}) {
    CAPTURE(target.text);
    try {
      (void)compile_network(network, target);
      FAIL("a kernel that the GPU cannot run was compiled");
    } catch (const CompileError& error) {
      CHECK(std::string(error.what()).find(reason) != std::string::npos);
    }
  }
}

TEST_CASE("each tensor crosses between devices once, and each device has the constants that its steps read") {
  const CompiledNetwork compiled = compile_network(mixed_network(1999), kTarget);
  const ModuleFile module = module_of(compiled);
  const Manifest& manifest = module.manifest;
  REQUIRE(manifest.devices.size() == 2);
  CHECK(manifest.devices[0].kind == "opencl");
  CHECK(manifest.devices[1].kind == "cpu");
  CHECK(manifest.target == kTarget.text);
  const FunctionInfo& function = manifest.functions.front();
  CHECK(copies_of(module) == std::vector<std::string>{"copy of softer to cpu", "copy of rest to opencl",
                                                      "copy of sum to opencl", "copy of again to cpu",
                                                      "copy of scaled_total to opencl"});
  CHECK(std::ranges::count_if(function.plan.steps,
                              [](const Step& step) { return std::holds_alternative<CallStep>(step); }) == 3);
  for (const ParameterInfo& parameter : function.parameters) CHECK(parameter.device == 0);
  CHECK(manifest.blobs.size() == 1);
  CHECK(std::ranges::count(manifest.constants, 0U, &Constant::device) == 1);
  CHECK(std::ranges::count(manifest.constants, 1U, &Constant::device) == 1);
  CHECK(compiled.notes.size() == 3);
  CHECK(
      compiled.notes.front() ==
      "node 'sum' (cumulative_sum) runs on the CPU beside the GPU: expected at least 32 sequences to compute at once, "
      "got 2");
}

TEST_CASE("parts of a tensor are copied to where it lies, and from there only what is read") {
  const ModuleFile module = module_of(compile_network(mixed_parts_network(), kTarget));
  CHECK(copies_of(module) == std::vector<std::string>{"copy of x to cpu", "copy of sum to opencl", "copy to all",
                                                      "copy of some to cpu", "copy of of_some to opencl"});
}

TEST_CASE("a network that suits the GPU stays there, and so does any network of a target without a host") {
  for (const auto& [network, target] : {std::pair(residual_network(1), kTarget),
                                        {mixed_network(1999), resolve_target("opencl")},
                                        {mixed_network(1999), resolve_target("opencl -host=none")},
                                        {mixed_network(1000), kTarget}}) {
    CAPTURE(network.name);
    CAPTURE(target.text);
    const CompiledNetwork compiled = compile_network(network, target);
    CHECK(module_of(compiled).manifest.devices.size() == 1);
    CHECK(compiled.notes.empty());
  }
}
