// Loops that a condition ends: what is valid, how they are evaluated, and their plans.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "crosscompile/ir/error.h"
#include "crosscompile/target/resolve.h"
#include "host/graph/compile/compile_network.h"
#include "host/graph/graph_text.h"
#include "host/graph/loops.h"
#include "host/graph/passes/hoist_invariants.h"
#include "host/graph/prune.h"
#include "host/graph/reference/all_outputs.h"
#include "host/graph/reference/definition.h"
#include "module/module_file.h"
#include "module/step_description.h"
#include "tests/support/network_builder.h"

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

// Adds up the entries of x while fewer than n were, at most as many as there are: the condition, the number of entries
// and their sum are the states, and the loop gives the sums.
struct SummingLoop : NetworkBuilder {
  std::vector<TensorId> begun, ended;
  TensorId n = kNoTensor, first = kNoTensor, count = kNoTensor, sum = kNoTensor, goes_on = kNoTensor;

  explicit SummingLoop(const Size& length, bool keeps_sums = true) : NetworkBuilder("summing") {
    const TensorId x = input("x", {length, 2});
    n = input("n", {}, DType::i64);
    const TensorId zero = constant<std::int64_t>("zero", {}, {0}, DType::i64),
                   one = constant<std::int64_t>("one", {}, {1}, DType::i64),
                   none = constant<float>("none", {2}, {0, 0}, DType::f32);
    first = node(Operator::less, {zero, n}, {}, "first");
    node(Operator::loop, {first, zero, none, x}, LoopAttributes{length, {{}}, true}, "loop");
    begun = graph.nodes.back().outputs;
    count = node(Operator::add, {begun[1], one}, {}, "count");
    sum = node(Operator::add, {begun[2], begun[3]}, {}, "sum");
    goes_on = node(Operator::less, {count, n}, {}, "goes_on");
    std::vector<TensorId> results = {goes_on, count, sum};
    if (keeps_sums) results.push_back(sum);
    node(Operator::end_loop, results,
         LoopAttributes{length, std::vector<LoopTensor>(results.size() - 3, LoopTensor{true}), true}, "end");
    ended = graph.nodes.back().outputs;
    for (std::size_t i = 1; i < ended.size(); ++i) output(ended[i], "o" + std::to_string(i));
  }
};

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class Change>
std::string error_with(Change change) {
  SummingLoop network(3);
  change(network);
  try {
    validate(network.graph);
    return "valid";
  } catch (const InternalError& error) {
    return error.what();
  }
}

Node& node_called(Graph& graph, const std::string& name) { return *std::ranges::find(graph.nodes, name, &Node::name); }

TEST_CASE("a loop that a condition ends is evaluated as a loop in C++, and what it did not compute is 0") {
  const SummingLoop network(Size::symbol("L"));
  validate(network.graph);
  for (const std::int64_t length : {1, 5}) {
    for (const std::int64_t n : {-1, 0, 1, 3, 5, 6}) {
      CAPTURE(n);
      std::vector<float> x, sums(static_cast<std::size_t>(2 * length));
      for (std::int64_t i = 0; i < 2 * length; ++i) x.push_back(static_cast<float>(i * i + 1));
      std::vector<float> sum = {0, 0};
      std::int64_t count = 0;
      for (; count < length && count < n; ++count)
        for (std::size_t c = 0; c < 2; ++c) {
          sum[c] += x[static_cast<std::size_t>(2 * count) + c];
          sums[static_cast<std::size_t>(2 * (length - 1 - count)) + c] = sum[c];
        }
      const auto tensors = evaluate(network.graph, {{"L", length}}, {bytes_of(x), bytes_of<std::int64_t>({n})});
      CHECK(tensors[network.ended[1]] == bytes_of<std::int64_t>({count}));
      CHECK(tensors[network.ended[2]] == bytes_of(sum));
      CHECK(tensors[network.ended[3]] == bytes_of(sums));
    }
  }
}

TEST_CASE("the condition of a loop is a bool scalar at both of its ends") {
  CHECK(error_with([](SummingLoop&) {}) == "valid");
  CHECK(error_with([](SummingLoop& network) {
          std::get<LoopAttributes>(node_called(network.graph, "end").attributes).has_condition = false;
        }) == "graph: loop 'loop' has a condition at one end only");
  CHECK(error_with([](SummingLoop& network) { node_called(network.graph, "loop").inputs[0] = network.n; }) ==
        "graph: node 'loop' (loop): expected a bool scalar as the first state, the condition, got i64[]");
}

TEST_CASE("a condition stays when nothing else of a loop is needed, and is shown") {
  SummingLoop network(3);
  network.graph.outputs = {network.ended[2]};
  network.graph.output_names = {"y"};
  const Graph pruned = prune(network.graph);
  validate(pruned);
  const std::string text = to_text(pruned);
  CHECK_MESSAGE(text.find(" count=3 conditional tensors=forwards  loop\n") != std::string::npos, text);
  CHECK(loop_of(pruned.nodes.back()).has_condition);
  CHECK(loop_of(pruned.nodes.back()).tensors.empty());
}

TEST_CASE("the work of a loop that a condition ends counts once, or is unknown") {
  SummingLoop network(1000);
  const ModuleFile module = read_module(compile_network(network.graph, resolve_target("x86-64-v3")).module).value();
  const FunctionInfo& function = module.manifest.functions.front();
  const std::vector<StepDescription> steps = step_descriptions(module).value();
  REQUIRE(steps.size() == function.plan.steps.size());
  const auto repeat = std::ranges::find_if(function.plan.steps,
                                           [](const Step& step) { return std::holds_alternative<RepeatStep>(step); });
  REQUIRE(repeat != function.plan.steps.end());
  REQUIRE(std::get<RepeatStep>(*repeat).condition.has_value());
  CHECK(std::get<RepeatStep>(*repeat).condition->kind == OperandKind::workspace);
  for (auto step = repeat + 1; step != function.plan.steps.end(); ++step)
    CHECK(steps[static_cast<std::size_t>(step - function.plan.steps.begin())].bytes.code.empty());
  CHECK(evaluate(function.flops, {}).value() < 100);
}

TEST_CASE("what a loop stacks is filled with zeros in front of a loop that may end early") {
  SummingLoop network(7);
  const ModuleFile module = read_module(compile_network(network.graph, resolve_target("x86-64-v3")).module).value();
  const Plan& plan = module.manifest.functions.front().plan;
  std::size_t fills = 0;
  for (const Step& step : plan.steps) {
    if (std::holds_alternative<RepeatStep>(step)) break;
    const auto* fill = std::get_if<FillStep>(&step);
    if (fill == nullptr) continue;
    ++fills;
    CHECK(fill->to == Operand{OperandKind::argument, 4, kNoValue});
    CHECK(fill->pattern == 0);
    CHECK(evaluate(plan.values.at(fill->bytes), {}).value() == 7 * 2 * 4);
  }
  CHECK(fills == 1);
}

TEST_CASE("with all outputs, whether an iteration ran is one, and loops that may run without end are left out") {
  const SummingLoop network(3);
  const Graph all = with_all_outputs(network.graph);
  validate(all);
  const HeldTensors held(all);
  CHECK(to_text(type_of(all.tensor(held.find(network.begun[0]).tensor))) == "bool[3]");
  NetworkBuilder endless("endless");
  const TensorId x = endless.input("x", {4}), go = endless.input("go", {}, DType::boolean);
  const LoopAttributes loop{kUnbounded, {}, true};
  endless.node(Operator::loop, {go, x}, loop, "loop");
  const std::vector<TensorId> begun = endless.graph.nodes.back().outputs;
  const TensorId next = endless.node(Operator::tanh, {begun[1]}, {}, "next");
  endless.node(Operator::end_loop, {begun[0], next}, loop, "end");
  endless.output(endless.graph.nodes.back().outputs[1], "y");
  const Graph outside = with_all_outputs(endless.graph);
  validate(outside);
  for (const TensorId output : outside.outputs) CHECK(outside.tensor(output).shape.size() <= 1);
}

// y = c ? exp(x) : tanh(x), as two branches.
struct Branches : NetworkBuilder {
  Branches() : NetworkBuilder("branches") {
    const TensorId x = input("x", {16}), c = input("c", {}, DType::boolean),
                   zero = constant<float>("zero", {}, {0}, DType::f32);
    const TensorId none = node(Operator::broadcast, {zero}, BroadcastAttributes{{16}}, "none");
    const TensorId first = branch(c, none, Operator::exp, x);
    const TensorId other = node(Operator::logical_not, {c}, {}, "not");
    output(branch(other, first, Operator::tanh, x), "y");
  }
  TensorId branch(TensorId condition, TensorId otherwise, Operator op, TensorId x) {
    const LoopAttributes once{1, {}, true};
    node(Operator::loop, {condition, otherwise}, once, "begin");
    const std::vector<TensorId> begun = graph.nodes.back().outputs;
    node(Operator::end_loop, {begun[0], node(op, {x}, {}, operator_name(op))}, once, "end");
    return graph.nodes.back().outputs[1];
  }
};

TEST_CASE("branches write their results where these are read") {
  const Branches network;
  const ModuleFile module = read_module(compile_network(network.graph, resolve_target("x86-64-v3")).module).value();
  const Plan& plan = module.manifest.functions.front().plan;
  std::size_t results = 0, copied = 0;
  for (const Step& step : plan.steps) {
    if (const auto* copy = std::get_if<CopyStep>(&step))
      copied += static_cast<std::size_t>(evaluate(plan.values.at(copy->bytes), {}).value());
    for_each_operand(step, [&](const Operand& operand) {
      if (operand.kind == OperandKind::argument && operand.index == 2) ++results;
    });
  }
  CHECK(copied <= 2);   // the conditions
  CHECK(results == 3);  // what is there at first, and what each branch writes
}

TEST_CASE("nodes of a branch stay there") {
  const Branches network;
  const Graph moved = hoist_invariants(network.graph);
  CHECK(moved.nodes.size() == network.graph.nodes.size());
  for (std::size_t n = 0; n < moved.nodes.size(); ++n) CHECK(moved.nodes[n].name == network.graph.nodes[n].name);
}

}  // namespace
