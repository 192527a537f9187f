// Tests of checking a network node by node.
#include "host/verify/check_network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <set>

#include "host/compiler/llvm/network.h"
#include "host/verify/probe_inputs.h"
#include "tests/support/network_builder.h"
#include "tests/unit/host/kernel/own_compiler.h"

using namespace ferry;

namespace {

graph::Graph small_network(float bias, const std::string& shifting = "shifted") {
  test::NetworkBuilder network("small");
  const graph::TensorId x = network.input("x", {graph::Size::symbol("N"), 2, 6, 6});
  const graph::ConvAttributes conv = {{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 1};
  const graph::TensorId first =
      network.node(graph::Operator::conv, {x, network.weights("w", {4, 2, 3, 3})}, conv, "first");
  const graph::TensorId rows = network.node(graph::Operator::reshape, {first},
                                            graph::ReshapeAttributes{{graph::Size::symbol("N") * 24, 6}}, "rows");
  const graph::TensorId shifted =
      network.node(graph::Operator::add, {rows, network.constant<float>("b", {1}, {bias}, DType::f32)}, {}, shifting);
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
  std::optional<Hash> identity(const NetworkRequest& request) const override { return run_->identity(request); }
  NetworkIdentity network_identity() const override { return run_->network_identity(); }
  Emission emit(Stage stage, const NetworkRequest& request, const std::string& after) const override {
    return run_->emit(stage, request, after);
  }
  const NetworkSource& source() const override { return run_->source(); }
  const NetworkNames& names() const override { return run_->names(); }
  std::shared_ptr<const Network> with_outputs(const std::vector<std::string>& tensors) const override {
    return std::make_shared<const Different>(run_->with_outputs(tensors), defined_->with_outputs(tensors));
  }
  std::shared_ptr<const Network> with_all_outputs(const Target& target, const SizesByName& sizes,
                                                  const TunedSchedules* tuned) const override {
    return std::make_shared<const Different>(run_->with_all_outputs(target, sizes, tuned),
                                             defined_->with_all_outputs(target, sizes, tuned));
  }
  std::vector<NetworkProgram> kernels(const NetworkRequest& request) const override { return run_->kernels(request); }
  std::vector<NodeProgram> nodes(const SizesByName& sizes) const override { return defined_->nodes(sizes); }
  NetworkLayouts layouts(const NetworkRequest& request) const override { return run_->layouts(request); }
  std::string least_cost_layouts(const NetworkLayouts& of) const override { return run_->least_cost_layouts(of); }

 private:
  std::shared_ptr<const Network> run_, defined_;
};

KernelSource source_of(std::shared_ptr<const Network> network) {
  KernelSource source;
  source.compiler = test::own_compiler();
  source.name = "small.onnx";
  source.kind = NetworkKernel{std::move(network)};
  return source;
}

// Runs a network, of which an element of the output is changed by `fault` afterwards, and checks it.
verify::Findings findings_of(const Device& device, const Target& target, std::shared_ptr<const Network> network,
                             const CallOptions& call = {}, float fault = 0, bool thorough = false) {
  const KernelSource source = source_of(std::move(network));
  const CompiledModule module = compile_kernel(source, "", target, call).module;
  const FunctionInfo& info = module.manifest().functions.front();
  const CallPlan plan = plan_call(info, call);
  verify::RanKernel ran{info, plan, verify::outputs_of_call(device, module, info, plan)};
  if (fault != 0) {
    float element = 0;
    std::uint8_t* const last = &ran.outputs.back().back() - (sizeof element - 1);
    std::memcpy(&element, last, sizeof element);
    element += fault;
    std::memcpy(last, &element, sizeof element);
  }
  verify::Findings findings;
  verify::check_network(device, source, target, call, ran, {.seed = 5, .thorough = thorough}, findings);
  return findings;
}

std::vector<verify::CheckResult> check(const Device& device, const Target& target,
                                       std::shared_ptr<const Network> network, const CallOptions& call = {},
                                       float fault = 0) {
  return findings_of(device, target, std::move(network), call, fault).checks;
}

std::vector<verify::CheckResult> check(std::shared_ptr<const Network> network, float fault = 0) {
  const Device device = local_device();
  CallOptions call;
  call.sizes = {"N=2"};
  const Target target = target_for(device, "", source_of(network));
  return check(device, target, std::move(network), call, fault);
}

}  // namespace

TEST_CASE("each kernel of a network is compared with its definition") {
  const std::vector<verify::CheckResult> results = check(make_network(small_network(0.25F)));
  REQUIRE(results.size() == 4);
  CHECK(results[0].output == "first");
  CHECK(results[1].output == "shifted");
  CHECK(results[2].output == "last");
  CHECK(results[3].output == "y of the whole network");
  for (const verify::CheckResult& result : results) {
    CHECK(result.compared == 2 * 4 * 36);
    CHECK(result.wrong == 0);
  }
}

TEST_CASE("only the kernel that computes something else is wrong, and not those after it") {
  const std::vector<verify::CheckResult> results =
      check(std::make_shared<const Different>(small_network(0.25F), small_network(0.26F)));
  REQUIRE(results.size() == 4);
  CHECK(results[0].wrong == 0);
  CHECK(results[1].wrong == results[1].compared);
  CHECK(results[1].first_wrong.starts_with("shifted["));
  CHECK(results[2].wrong == 0);
  CHECK(results[3].wrong == 0);
}

TEST_CASE("the sentence about a kernel of many nodes names the first and the last, and its result all") {
  std::string name = "shifted";
  for (int i = 0; i < 20; ++i) name += "+Node_" + std::to_string(i);
  const std::vector<verify::CheckResult> results =
      check(std::make_shared<const Different>(small_network(0.25F, name), small_network(0.26F, name)));
  REQUIRE(results.size() == 4);
  CHECK(results[1].output == name);
  CHECK_MESSAGE(results[1].first_wrong.starts_with("shifted+...+Node_19 (21 nodes)["), results[1].first_wrong);
}

TEST_CASE("a network whose kernels are right is wrong if its output is not what they compute") {
  const std::vector<verify::CheckResult> results = check(make_network(small_network(0.25F)), 1);
  REQUIRE(results.size() == 4);
  for (std::size_t kernel = 0; kernel < 3; ++kernel) CHECK(results[kernel].wrong == 0);
  CHECK(results[3].wrong == 1);
  CHECK(results[3].largest_absolute == doctest::Approx(1));
  CHECK(results[3].first_wrong.starts_with("y[5,47] "));
  CHECK(results[3].first_wrong.ends_with(", which the same kernels compute in memory of their own"));
}

TEST_CASE("rounding errors are expected to cancel where nothing regular is added up, and only there") {
  const auto bounds = [](bool regular_input, bool regular_weights, bool has_bias) {
    test::NetworkBuilder builder("small");
    graph::TensorId x = builder.input("x", {1, 64, 8, 8});
    const graph::TensorId w =
        regular_weights
            ? builder.constant<float>("w", {32, 64, 1, 1}, std::vector<float>(std::size_t{32} * 64, 0.1F), DType::f32)
            : builder.weights("w", {32, 64, 1, 1});
    std::vector<graph::TensorId> inputs{x, w};
    if (has_bias) inputs.push_back(builder.constant<float>("b", {32}, std::vector<float>(32, 0.1F), DType::f32));
    builder.output(
        builder.node(graph::Operator::conv, inputs, graph::ConvAttributes{{{1, 1, 1}, {1, 1, 1}}, 1}, "conv"), "y");
    CallOptions call;
    if (regular_input) call.arguments = {"x=:ones"};
    const Device device = local_device();
    const Target target = target_for(device, "", source_of(make_network(builder.graph)));
    std::string used;
    for (const verify::CheckResult& result : check(device, target, make_network(builder.graph), call)) {
      CHECK(result.wrong == 0);
      if (result.output.starts_with("conv")) used = result.square_root ? "square root" : "worst case";
    }
    return used;
  };
  CHECK(bounds(false, false, false) == "square root");
  CHECK(bounds(false, false, true) == "square root");
  CHECK(bounds(true, false, false) == "worst case");
  CHECK(bounds(false, true, false) == "worst case");
}

TEST_CASE("a product of operands that were rounded to half precision is found") {
  const auto network = [](bool is_rounded) {
    test::NetworkBuilder builder("small");
    std::vector<float> weights(std::size_t{2048} * 8);
    fill(FillKind::random, 1, DType::f32, 0, weights.size(), weights.data());
    for (float& weight : weights)
      if (is_rounded) weight = std::bit_cast<float>(std::bit_cast<std::uint32_t>(weight) & 0xffffe000U);
    const graph::TensorId w = builder.constant<float>("w", {2048, 8}, weights, DType::f32);
    builder.output(
        builder.node(graph::Operator::matmul, {builder.input("x", {4, 2048}), w}, graph::MatmulAttributes{}, "product"),
        "y");
    return make_network(builder.graph);
  };
  const Device device = local_device();
  const Target target = target_for(device, "", source_of(network(false)));
  CHECK(check(device, target, network(false)).front().wrong == 0);
  const auto rounded = std::make_shared<const Different>(network(true), network(false));
  CHECK(check(device, target, rounded).front().wrong > 0);
}

TEST_CASE("nodes in a loop are compared in some of its iterations, and the kernel that is wrong is named") {
  const auto network = [](float bias) {
    test::NetworkBuilder builder("small");
    const graph::TensorId x = builder.input("x", {graph::Size::symbol("L"), 36}), s = builder.input("s", {36});
    const graph::LoopAttributes loop{graph::Size::symbol("L"), {{.is_backwards = true}}};
    builder.node(graph::Operator::loop, {s, x}, loop, "loop");
    const std::vector<graph::TensorId> begun = builder.graph.nodes.back().outputs;
    const graph::TensorId sum = builder.node(graph::Operator::add, {begun[0], begun[1]}, {}, "sum"),
                          all = builder.node(graph::Operator::reduce_sum, {sum}, graph::ReduceAttributes{{0}, true},
                                             "all");
    const graph::TensorId b = builder.constant<float>("b", {1}, {bias}, DType::f32);
    const graph::TensorId next =
        builder.node(graph::Operator::tanh,
                     {builder.node(graph::Operator::sub,
                                   {sum, builder.node(graph::Operator::mul, {all, b}, {}, "part")}, {}, "difference")},
                     {}, "next");
    builder.node(graph::Operator::end_loop, {next, next}, loop, "end");
    const std::vector<graph::TensorId> ended = builder.graph.nodes.back().outputs;
    builder.output(ended[0], "last");
    builder.output(ended[1], "states");
    return builder.graph;
  };
  const Device device = local_device();
  CallOptions call;
  call.sizes = {"L=13"};
  const Target target = target_for(device, "", source_of(make_network(network(0.1F))));
  for (const verify::CheckResult& result : check(device, target, make_network(network(0.1F)), call)) {
    CAPTURE(result.output);
    CHECK(result.wrong == 0);
    CHECK(result.compared > 0);
  }
  std::string wrong;
  for (const verify::CheckResult& result :
       check(device, target, std::make_shared<const Different>(network(0.1F), network(0.2F)), call))
    if (result.wrong > 0) wrong += result.output + "\n";
  CHECK(wrong ==
        "all+part in iteration 0\nall+part in iteration 4\n"
        "all+part in iteration 8\nall+part in iteration 12\n");
}

TEST_CASE("in a loop that a condition ends, nodes are compared in iterations that ran") {
  const auto network = [](float bias, std::int64_t limit) {
    test::NetworkBuilder builder("small");
    const graph::TensorId x = builder.input("x", {20, 36}), s = builder.input("s", {36});
    const auto number = [&](const char* name, std::int64_t value) {
      return builder.constant<std::int64_t>(name, {}, {value}, DType::i64);
    };
    const graph::TensorId zero = number("zero", 0), one = number("one", 1), n = number("n", limit);
    const graph::LoopAttributes loop{20, {{}}, true};
    builder.node(graph::Operator::loop, {builder.node(graph::Operator::less, {zero, n}), zero, s, x}, loop, "loop");
    const std::vector<graph::TensorId> begun = builder.graph.nodes.back().outputs;
    const graph::TensorId count = builder.node(graph::Operator::add, {begun[1], one}, {}, "count"),
                          b = builder.constant<float>("b", {1}, {bias}, DType::f32),
                          sum = builder.node(graph::Operator::add, {begun[2], begun[3]}, {}, "sum"),
                          next = builder.node(graph::Operator::add, {sum, b}, {}, "next");
    builder.node(graph::Operator::end_loop,
                 {builder.node(graph::Operator::less, {count, n}, {}, "goes_on"), count, next, next}, loop, "end");
    const std::vector<graph::TensorId> ended = builder.graph.nodes.back().outputs;
    builder.output(ended[2], "last");
    builder.output(ended[3], "states");
    return builder.graph;
  };
  const Device device = local_device();
  const Target target = target_for(device, "", source_of(make_network(network(0.1F, 4))));
  for (const std::int64_t limit : {0, 4, 100}) {
    for (const verify::CheckResult& result : check(device, target, make_network(network(0.1F, limit)))) {
      CAPTURE(result.output);
      CHECK(result.wrong == 0);
      CHECK(result.compared > 0);
    }
  }
  std::string wrong;
  for (const verify::CheckResult& result :
       check(device, target, std::make_shared<const Different>(network(0.1F, 4), network(0.2F, 4))))
    if (result.wrong > 0) wrong += result.output + "\n";
  CHECK(wrong ==
        "sum+next in iteration 0\nsum+next in iteration 1\n"
        "sum+next in iteration 2\nsum+next in iteration 3\n");
}

TEST_CASE("lanes past the channels of a block are not compared") {
  test::NetworkBuilder builder("small");
  graph::TensorId x = builder.input("x", {1, 61, 24, 24});
  const graph::ConvAttributes conv = {{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 1};
  for (const char* name : {"first", "second"}) {
    x = builder.node(graph::Operator::conv,
                     {x, builder.weights("w", {61, 61, 3, 3}),
                      builder.constant<float>("b", {61}, std::vector<float>(61, 1), DType::f32)},
                     conv, name);
    x = builder.node(graph::Operator::sigmoid, {x}, {});
  }
  builder.output(x, "y");
  const Device device = local_device();
  Target target = target_for(device, "", source_of(make_network(builder.graph)));
  target.l2_bytes = 2 << 20;
  REQUIRE(make_network(builder.graph)->emit(Stage::groups, {target}).text.find("NCHW") != std::string::npos);
  for (const verify::CheckResult& result : check(device, target, make_network(builder.graph))) {
    CAPTURE(result.output);
    CAPTURE(result.first_wrong);
    CHECK(result.wrong == 0);
    CHECK(result.elements == 61 * 24 * 24);
  }
}

TEST_CASE("a convolution by Winograd's algorithm is compared with the direct convolution") {
  const auto network = [](float last_weight) {
    test::NetworkBuilder builder("small");
    graph::TensorId x = builder.input("x", {1, 64, 24, 24});
    const graph::ConvAttributes conv = {{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 1};
    for (const char* name : {"first", "second"}) {
      std::vector<float> weights(std::size_t{64} * 64 * 9);
      fill(FillKind::random, 1, DType::f32, 0, weights.size(), weights.data());
      weights.back() += last_weight;
      x = builder.node(graph::Operator::conv, {x, builder.constant<float>("w", {64, 64, 3, 3}, weights, DType::f32)},
                       conv, name);
    }
    builder.output(x, "y");
    return make_network(builder.graph);
  };
  const Device device = local_device();
  Target target = target_for(device, "", source_of(network(0)));
  target.l2_bytes = 2 << 20;
  REQUIRE(network(0)->emit(Stage::groups, {target}).text.find("winograd=") != std::string::npos);
  const auto checked = [&](std::shared_ptr<const Network> one) { return check(device, target, std::move(one)); };
  for (const verify::CheckResult& result : checked(network(0))) {
    CHECK(result.compared > 0);
    CHECK(result.wrong == 0);
  }
  // One of 576 weights of the last filter.
  const std::vector<verify::CheckResult> wrong = checked(std::make_shared<const Different>(network(1), network(0)));
  CHECK(wrong.size() == 5);
  for (const verify::CheckResult& result : wrong)
    CHECK((result.wrong > 0) == (result.output == "first" || result.output == "second"));
}

TEST_CASE("NaNs that Winograd's algorithm makes of infinities are counted, and not wrong") {
  test::NetworkBuilder builder("small");
  const graph::TensorId x = builder.input("x", {1, 64, 24, 24});
  const graph::ConvAttributes conv = {{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 1};
  std::vector<float> weights(std::size_t{64} * 64 * 9);
  fill(FillKind::random, 1, DType::f32, 0, weights.size(), weights.data());
  weights.back() = std::numeric_limits<float>::infinity();
  builder.output(builder.node(graph::Operator::conv,
                              {x, builder.constant<float>("w", {64, 64, 3, 3}, weights, DType::f32)}, conv, "conv"),
                 "y");
  const auto network = make_network(builder.graph);
  const Device device = local_device();
  Target target = target_for(device, "", source_of(network));
  target.l2_bytes = 2 << 20;
  REQUIRE(network->emit(Stage::groups, {target}).text.find("winograd=") != std::string::npos);
  const std::vector<verify::CheckResult> results = check(device, target, network);
  const auto checked = std::ranges::find(results, "conv", &verify::CheckResult::output);
  REQUIRE(checked != results.end());
  CHECK(checked->wrong == 0);
  CHECK(checked->nan_of_algorithm > 0);
  CHECK(checked->nan >= checked->nan_of_algorithm);
}

TEST_CASE("a thorough check calls a network with adversarial inputs and other sizes") {
  // The network that runs has an upper bound of 9, which random numbers do not reach.
  const auto network = [](bool is_bounded) {
    test::NetworkBuilder builder("small");
    graph::TensorId x = builder.input("x", {graph::Size::symbol("N"), 12});
    x = builder.node(graph::Operator::matmul, {x, builder.weights("w", {12, 7})}, graph::MatmulAttributes{}, "product");
    if (is_bounded) {
      const graph::TensorId nine = builder.constant<float>("nine", {1}, {9}, DType::f32);
      x = builder.node(graph::Operator::minimum, {x, nine}, {}, "bounded");
    } else {
      x = builder.node(graph::Operator::add, {x, builder.constant<float>("zero", {1}, {0}, DType::f32)}, {}, "bounded");
    }
    builder.output(builder.node(graph::Operator::relu, {x}, {}, "last"), "y");
    return make_network(builder.graph);
  };
  const Device device = local_device();
  CallOptions call;
  call.sizes = {"N=3"};
  const Target target = target_for(device, "", source_of(network(true)));
  const verify::Findings right = findings_of(device, target, network(true), call, 0, true);
  CHECK_MESSAGE(right.is_fine(), right.mistake());
  std::set<std::string> inputs, sizes;
  for (const verify::Probe& probe : right.probes) {
    inputs.insert(probe.inputs);
    sizes.insert(probe.sizes);
    CHECK(probe.checks.size() >= 1);
  }
  CHECK(inputs.size() == std::size(verify::kAdversarialSets) + 1);
  CHECK(inputs.contains("subnormal numbers"));
  CHECK(sizes.contains("N=1"));
  CHECK(sizes.contains("N=4"));
  const auto other = std::make_shared<const Different>(network(true), network(false));
  CHECK(findings_of(device, target, other, call).is_fine());
  const verify::Findings wrong = findings_of(device, target, other, call, 0, true);
  CHECK_MESSAGE(wrong.mistake().find("with large numbers: ") == 0, wrong.mistake());
}
