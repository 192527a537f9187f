// Tests of checking a network node by node.
#include "host/verify/check_network.h"

#include <doctest/doctest.h>

#include "host/compiler/llvm/network.h"
#include "tests/support/network_builder.h"
#include "tests/unit/host/kernel/own_compiler.h"

using namespace ferry;

namespace {

graph::Graph small_network(float bias) {
  test::NetworkBuilder network("small");
  const graph::TensorId x = network.input("x", {graph::Size::symbol("N"), 2, 6, 6});
  const graph::ConvAttributes conv = {{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 1};
  const graph::TensorId first =
      network.node(graph::Operator::conv, {x, network.weights("w", {4, 2, 3, 3})}, conv, "first");
  const graph::TensorId rows = network.node(graph::Operator::reshape, {first},
                                            graph::ReshapeAttributes{{graph::Size::symbol("N") * 24, 6}}, "rows");
  const graph::TensorId shifted =
      network.node(graph::Operator::add, {rows, network.constant<float>("b", {1}, {bias}, DType::f32)}, {}, "shifted");
  network.output(network.node(graph::Operator::transpose, {shifted}, graph::TransposeAttributes{{1, 0}}, "last"), "y");
  return network.graph;
}

// Runs one network and defines another.
class Different final : public Network {
 public:
  Different(graph::Graph run, graph::Graph defined)
      : run_(make_network(std::move(run))), defined_(make_network(std::move(defined))) {}
  Different(std::shared_ptr<const Network> run, std::shared_ptr<const Network> defined)
      : run_(std::move(run)), defined_(std::move(defined)) {}

  const FunctionInfo& function() const override { return run_->function(); }
  Compiled compile(const NetworkRequest& request) const override { return run_->compile(request); }
  std::string emit(Stage stage, const NetworkRequest& request) const override { return run_->emit(stage, request); }
  std::shared_ptr<const Network> with_all_outputs(const Target& target) const override {
    return std::make_shared<const Different>(run_->with_all_outputs(target), defined_->with_all_outputs(target));
  }
  std::vector<NodeProgram> nodes(const SizesByName& sizes) const override { return defined_->nodes(sizes); }

 private:
  std::shared_ptr<const Network> run_, defined_;
};

std::vector<verify::CheckResult> check(std::shared_ptr<const Network> network) {
  KernelSource source;
  source.compiler = test::own_compiler();
  source.name = "small.onnx";
  source.network = std::move(network);
  CallOptions call;
  call.sizes = {"N=2"};
  const Device device = local_device();
  return verify::check_network(device, source, target_for(device, "", source), call, {});
}

}  // namespace

TEST_CASE("each kernel of a network is compared with its definition") {
  const std::vector<verify::CheckResult> results = check(make_network(small_network(0.25F)));
  REQUIRE(results.size() == 3);
  CHECK(results[0].output == "first");
  CHECK(results[1].output == "shifted");
  CHECK(results[2].output == "last");
  for (const verify::CheckResult& result : results) {
    CHECK(result.compared == 2 * 4 * 36);
    CHECK(result.wrong == 0);
  }
}

TEST_CASE("only the kernel that computes something else is wrong, and not those after it") {
  const std::vector<verify::CheckResult> results =
      check(std::make_shared<const Different>(small_network(0.25F), small_network(0.26F)));
  REQUIRE(results.size() == 3);
  CHECK(results[0].wrong == 0);
  CHECK(results[1].wrong == results[1].compared);
  CHECK(results[1].first_wrong.starts_with("shifted["));
  CHECK(results[2].wrong == 0);
}
