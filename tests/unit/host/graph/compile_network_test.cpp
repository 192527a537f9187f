// Networks that are compiled to modules.
#include "host/graph/compile/compile_network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "crosscompile/compile.h"
#include "crosscompile/target/resolve.h"
#include "ferry/hash.h"
#include "host/graph/compile/network_kernels.h"
#include "host/graph/passes/make_groups.h"
#include "module/module_file.h"
#include "module/step_description.h"
#include "tests/support/network_builder.h"
#include "tests/support/sample.h"
#include "tests/support/seeded.h"

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

// The figures are those of the layers' definitions, with a batch of 5.
TEST_CASE("the steps of a network are described by result, operations and traffic") {
  const std::vector<std::int64_t> batch = {5};
  for (const std::int64_t filters : {16, 7}) {
    CAPTURE(filters);
    NetworkBuilder network;
    const TensorId x = network.input("x", {Size::symbol("N"), 3, 9, 11});
    const TensorId conv =
        network.node(Operator::conv, {x, network.weights("w", {filters, 3, 3, 3}), network.weights("b", {filters})},
                     ConvAttributes{{{3}, {3}}}, "conv");
    network.output(network.node(Operator::relu, {conv}, {}, "relu"), "y");
    network.output(x, "same");
    const ModuleFile module =
        read_module(compile_network(network.graph, resolve_target("x86-64-v3"), {{{"N", 5}}}).module).value();
    const std::vector<StepDescription> steps = step_descriptions(module).value();
    REQUIRE(steps.size() == 2);
    const auto number = [&](const ManifestExpr& expr) { return evaluate(expr, batch).value(); };
    CHECK(steps[0].node == "conv+relu");
    CHECK(steps[0].dtype == DType::f32);
    std::vector<std::int64_t> shape;
    for (const ManifestExpr& size : steps[0].shape) shape.push_back(number(size));
    CHECK(shape == std::vector<std::int64_t>{5, filters, 7, 9});
    const std::int64_t outputs = 5 * filters * 7 * 9;
    CHECK(number(steps[0].flops) >= outputs * (2 * 27));
    CHECK(number(steps[0].flops) <= outputs * (2 * 27 + 2));
    CHECK(number(steps[0].bytes) == 4 * (5 * 3 * 9 * 11 + filters * 27 + filters + outputs));
    CHECK(steps[1].node == "copy to same");
    CHECK(number(steps[1].flops) == 0);
    CHECK(number(steps[1].bytes) == 2 * 4 * 5 * 3 * 9 * 11);
  }
}

TEST_CASE("the work of a step in a loop is that of all iterations") {
  const Size length = Size::symbol("L");
  NetworkBuilder network;
  const TensorId x = network.input("x", {length, 16}), s = network.input("s", {16});
  network.node(Operator::loop, {s, x}, LoopAttributes{length, {{}}}, "steps");
  const std::vector<TensorId> begun = network.graph.nodes.back().outputs;
  const TensorId sum = network.node(Operator::add, {begun[0], begun[1]}, {}, "sum");
  network.node(Operator::end_loop, {sum}, LoopAttributes{length, {}}, "end");
  network.output(network.graph.nodes.back().outputs[0], "y");
  const ModuleFile module = read_module(compile_network(network.graph, resolve_target("x86-64-v3")).module).value();
  const FunctionInfo& function = module.manifest.functions.front();
  const std::vector<StepDescription> steps = step_descriptions(module).value();
  REQUIRE(steps.size() == 4);
  const std::vector<std::int64_t> symbols = {7};
  const auto number = [&](const ManifestExpr& expr) { return evaluate(expr, symbols).value(); };
  CHECK(std::holds_alternative<CopyStep>(function.plan.steps[0]));
  CHECK(number(steps[0].bytes) == 2 * 64);
  CHECK(std::get<RepeatStep>(function.plan.steps[1]).steps == 2);
  CHECK(steps[1].node == "steps");
  CHECK(steps[2].node == "sum");
  CHECK(number(steps[2].flops) == 7 * 16);
  CHECK(number(steps[2].bytes) == 7 * 3 * 64);
  CHECK(number(steps[3].bytes) == 7 * 2 * 64);
  CHECK(number(function.flops) == 7 * 16);
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
    const std::vector<StepDescription> steps = step_descriptions(module.value()).value();
    for (std::size_t step = 0; step < steps.size(); ++step) {
      const auto& launch = std::get<LaunchStep>(function.plan.steps[step]);
      std::int64_t threads = 1;
      for (const auto& extents : {launch.grid, launch.block})
        for (const ValueIndex extent : extents) threads *= extent == kNoValue ? 1 : values.at(extent);
      std::int64_t& largest = most[steps[step].node];
      largest = std::max(largest, threads);
    }
    CHECK(most.size() == network.graph.nodes.size());
    for (const auto& [node, threads] : most) {
      CAPTURE(node);
      CHECK(threads >= 128);
    }
  }
}

TEST_CASE("a kernel of a GPU keeps of its workspace only the result until the plan ends") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {64, 300}), rows = network.input("rows", {5}, DType::i64);
  network.output(network.node(Operator::gather, {x, rows}, DimensionAttributes{0}), "y");
  const NetworkKernels kernels = kernels_of(network.graph, make_groups(network.graph), {}).kernels;
  for (const char* name : {"opencl", "cuda -arch=sm_80 -compiler=llvm"}) {
    CAPTURE(name);
    const Target target = resolve_target(name);
    const Result<ModuleFile> module = read_module(
        compile_module(lower_kernels(network.graph, kernels, target).functions[kTargetDevice], target).bytes);
    REQUIRE(module.is_ok());
    const Plan& plan = module.value().manifest.functions.at(0).plan;
    const auto bytes_of = [&](std::uint32_t workspace) {
      return evaluate(plan.values.at(plan.workspaces.at(workspace).bytes), {}).value();
    };
    const WorkspacePlace result = std::get<LaunchStep>(plan.steps.back()).result;
    REQUIRE(result.is_given());
    CHECK(result.offset == kNoValue);
    CHECK(bytes_of(result.workspace) == 4);
    // Whether the indices are in range is computed by a stage of its own.
    REQUIRE(plan.workspaces.size() == 2);
    CHECK(bytes_of(1 - result.workspace) > 4);
    std::size_t writers = 0;
    for (const Step& step : plan.steps)
      for_each_operand(step, [&](const Operand& operand) {
        writers += operand == Operand{OperandKind::workspace, result.workspace, kNoValue} ? 1 : 0;
      });
    CHECK(writers > 0);
  }
}

TEST_CASE("a kernel updates a residual in place if all groups that share it read theirs for the last time") {
  for (const bool is_read_again : {false, true}) {
    CAPTURE(is_read_again);
    NetworkBuilder network;
    const auto conv = [&](TensorId from) {
      return network.node(Operator::conv, {from, network.weights("w", {32, 32, 3, 3})},
                          ConvAttributes{{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 1});
    };
    const TensorId first = conv(network.input("x", {1, 32, 12, 12}));
    TensorId y = first;
    for (int block = 0; block < 3; ++block)
      y = network.node(Operator::relu, {network.node(Operator::add, {conv(conv(y)), y})});
    y = conv(y);
    if (is_read_again) y = network.node(Operator::maximum, {y, first});
    network.output(y, "y");
    const Target target = resolve_target("x86-64-v3");
    const Graph graph = optimized(network.graph, target, {.winograd = false});
    const Result<ModuleFile> module = read_module(compile_optimized(graph, target).module);
    REQUIRE(module.is_ok());
    const FunctionInfo& function = module.value().manifest.functions.at(0);
    std::map<std::string, std::size_t> operands;  // how many each kernel has
    std::size_t updates = 0;
    for (const Step& step : function.plan.steps) {
      const auto& call = std::get<CallStep>(step);
      operands[call.symbol] = call.operands.size();
      updates += call.symbol.starts_with("ferry_fn_conv_add_relu") && call.operands.size() == 3 ? 1 : 0;
    }
    CHECK(std::ranges::count_if(operands,
                                [](const auto& one) { return one.first.starts_with("ferry_fn_conv_add_relu"); }) == 1);
    // The kernel's operands: what it convolves, packed weights, and the residual that becomes the result.
    CHECK(updates == (is_read_again ? 0 : 3));
  }
}

// For a drawn third of the presets, or for all with FERRY_PRESETS_ALL, as in graph_long_test; FERRY_PRESETS_SEED draws
// others.
TEST_CASE("a quantized network compiles for every preset") {
  NetworkBuilder network;
  const auto scalar = [&](float value) { return network.constant<float>("scalar", {}, {value}, DType::f32); };
  const auto quantized = [&](TensorId x) {
    TensorId y = network.node(Operator::round, {network.node(Operator::mul, {x, scalar(20)})});
    y = network.node(Operator::add, {y, scalar(128)});
    y = network.node(Operator::minimum, {network.node(Operator::maximum, {y, scalar(0)}), scalar(255)});
    return network.node(Operator::cast, {y}, CastAttributes{DType::u8});
  };
  const auto dequantized = [&](TensorId x, float zero, float scale) {
    const TensorId y = network.node(Operator::cast, {x}, CastAttributes{DType::f32});
    return network.node(Operator::mul, {network.node(Operator::sub, {y, scalar(zero)}), scalar(scale)});
  };
  TensorId x = network.input("x", {Size::symbol("N"), 32, 9, 7});
  for (const std::int64_t groups : {1, 32}) {
    const auto count = static_cast<std::size_t>(32 * (32 / groups) * 9);
    const TensorId w =
        network.constant("w", {32, 32 / groups, 3, 3}, test::seeded_bytes<std::int8_t>(count, 3), DType::i8);
    const ConvAttributes conv{{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, groups};
    x = network.node(Operator::conv, {dequantized(quantized(x), 128, 0.05F), dequantized(w, 0, 0.01F)}, conv);
    x = network.node(Operator::relu, {x});
  }
  network.output(dequantized(quantized(x), 128, 0.05F), "y");
  const bool is_long = std::getenv("FERRY_PRESETS_ALL") != nullptr;
  const std::uint64_t seed = test::sample_seed("FERRY_PRESETS_SEED");
  std::size_t compiled = 0;
  for (const NamedTarget& named : named_targets()) {
    CAPTURE(named.name);
    if (!is_long && test::part_of(named.name, 3, seed) != 0) continue;
    ++compiled;
    CHECK_NOTHROW((void)compile_network(network.graph, resolve_target(named.name)));
  }
  MESSAGE(compiled << " presets");
  CHECK(compiled > 0);
}
