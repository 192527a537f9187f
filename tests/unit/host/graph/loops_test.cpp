// Nodes that are repeated: their scope, the passes that move nodes, and their evaluation.
#include "host/graph/loops.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "crosscompile/ir/error.h"
#include "host/graph/compile/alias_moves.h"
#include "host/graph/graph_text.h"
#include "host/graph/passes/choose_layouts.h"
#include "host/graph/passes/hoist_invariants.h"
#include "host/graph/passes/make_groups.h"
#include "host/graph/passes/merge_equal_nodes.h"
#include "host/graph/plan/network_function.h"
#include "host/graph/prune.h"
#include "host/graph/reference/all_outputs.h"
#include "host/graph/reference/definition.h"
#include "tests/support/network_builder.h"

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

using Names = std::vector<std::string>;

struct LoopBuilder : NetworkBuilder {
  std::vector<TensorId> loop(const Size& count, std::vector<TensorId> inputs, std::vector<LoopTensor> tensors = {}) {
    node(Operator::loop, std::move(inputs), LoopAttributes{count, std::move(tensors)}, "loop");
    return graph.nodes.back().outputs;
  }
  std::vector<TensorId> end_loop(const Size& count, std::vector<TensorId> inputs,
                                 std::vector<LoopTensor> tensors = {}) {
    node(Operator::end_loop, std::move(inputs), LoopAttributes{count, std::move(tensors)}, "end");
    return graph.nodes.back().outputs;
  }
};

Names names_of(const Graph& graph) {
  Names names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  return names;
}

std::string error_of(const Graph& graph) {
  try {
    validate(graph);
    return "valid";
  } catch (const InternalError& error) {
    return error.what();
  }
}

std::vector<float> floats_of(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("what is the same in all iterations moves in front of the outermost loop that allows it") {
  LoopBuilder network;
  const TensorId x = network.input("x", {4, 2}), w = network.input("w", {2}), i = network.input("i", {1}, DType::i64);
  const auto outer = network.loop(4, {w, x}, {{}});
  const TensorId fixed = network.node(Operator::neg, {w}, {}, "fixed");
  const auto inner = network.loop(3, {outer[0]});
  const TensorId also = network.node(Operator::mul, {fixed, w}, {}, "also"),
                 once = network.node(Operator::add, {outer[1], also}, {}, "once"),
                 checked = network.node(Operator::gather, {w, i}, DimensionAttributes{0}, "checked");
  const TensorId sum = network.node(Operator::add, {inner[0], once}, {}, "sum");
  const auto after = network.end_loop(3, {network.node(Operator::add, {sum, checked}, {}, "next")});
  network.output(network.end_loop(4, {after[0]})[0], "y");
  const Graph moved = hoist_invariants(network.graph);
  validate(moved);
  CHECK(names_of(moved) == Names{"fixed", "also", "loop", "once", "loop", "checked", "sum", "next", "end", "end"});
}

TEST_CASE("a node behind a loop is not replaced by an equal one inside, but one inside by an equal one before it") {
  LoopBuilder network;
  const TensorId x = network.input("x", {2});
  const TensorId before = network.node(Operator::neg, {x}, {}, "before");
  const auto begun = network.loop(3, {before});
  const TensorId same = network.node(Operator::neg, {x}, {}, "same"),
                 inside = network.node(Operator::abs, {x}, {}, "inside");
  const TensorId sum =
      network.node(Operator::add, {network.node(Operator::add, {begun[0], same}, {}, "a"), inside}, {}, "b");
  const auto ended = network.end_loop(3, {sum});
  network.output(network.node(Operator::add, {ended[0], network.node(Operator::abs, {x}, {}, "behind")}, {}, "y"), "y");
  const Graph merged = merge_equal_nodes(network.graph);
  validate(merged);
  CHECK(names_of(merged) == Names{"before", "loop", "inside", "a", "b", "end", "behind", "y"});
}

TEST_CASE("groups do not reach into or out of loops") {
  LoopBuilder network;
  const TensorId x = network.input("x", {2});
  const TensorId before = network.node(Operator::neg, {x}, {}, "before");
  const auto begun = network.loop(3, {x});
  const TensorId sum = network.node(Operator::add, {begun[0], before}, {}, "sum");
  const auto ended = network.end_loop(3, {network.node(Operator::relu, {sum}, {}, "relu")});
  network.output(network.node(Operator::abs, {ended[0]}, {}, "behind"), "y");
  Names groups;
  for (const Group& group : make_groups(network.graph)) groups.push_back(name_of(network.graph, group));
  CHECK(groups == Names{"before", "sum+relu", "behind"});
}

TEST_CASE("entries and whole tensors that nothing reads go, and so do loops that nothing needs") {
  LoopBuilder network;
  const TensorId x = network.input("x", {3, 2}), s = network.input("s", {2});
  const auto unneeded = network.loop(3, {s});
  network.end_loop(3, {network.node(Operator::neg, {unneeded[0]})});
  const auto begun = network.loop(3, {s, x, x}, {{}, {.is_backwards = true}});
  const TensorId sum = network.node(Operator::add, {begun[0], begun[2]}, {}, "sum");
  const auto ended = network.end_loop(3, {sum, sum, begun[1]}, {{}, {}});
  network.output(ended[0], "y");
  const Graph pruned = prune(network.graph);
  validate(pruned);
  CHECK(names_of(pruned) == Names{"loop", "sum", "end"});
  CHECK(loop_of(pruned.nodes[0]).tensors == std::vector<LoopTensor>{{.is_backwards = true}});
  CHECK(pruned.nodes[0].inputs.size() == 2);
  CHECK(pruned.nodes[2].outputs.size() == 1);
}

TEST_CASE("loops are valid if they nest, keep the types of states, and are read through their ends alone") {
  const auto network_with = [](auto change) {
    LoopBuilder network;
    const TensorId x = network.input("x", {3, 2}), s = network.input("s", {2});
    const auto begun = network.loop(3, {s, x}, {{}});
    const TensorId sum = network.node(Operator::add, {begun[0], begun[1]}, {}, "sum");
    const auto ended = network.end_loop(3, {sum});
    const TensorId y = network.node(Operator::neg, {ended[0]}, {}, "y");
    network.output(y, "y");
    change(network.graph, sum, x);
    return error_of(network.graph);
  };
  CHECK(network_with([](Graph&, TensorId, TensorId) {}) == "valid");
  CHECK(network_with([](Graph& graph, TensorId sum, TensorId) { graph.nodes[3].inputs = {sum}; }) ==
        "graph: node 'y' reads what a loop computes inside");
  CHECK(network_with([](Graph& graph, TensorId sum, TensorId) { graph.outputs = {sum}; }) ==
        "graph: output 'sum' is computed in a loop");
  CHECK(network_with([](Graph& graph, TensorId, TensorId) { graph.nodes.erase(graph.nodes.begin() + 2); }) ==
        "graph: the loop 'loop' has no end");
  CHECK(network_with([](Graph& graph, TensorId, TensorId) { graph.nodes.erase(graph.nodes.begin()); }) ==
        "graph: node 'end' ends no loop");
  CHECK(network_with([](Graph& graph, TensorId, TensorId) { graph.nodes[2].attributes = LoopAttributes{4, {}}; }) ==
        "graph: loop 'loop' ends with another count");
  CHECK(network_with([](Graph& graph, TensorId, TensorId x) {
          graph.nodes[2].inputs = {x};
          graph.tensors[graph.nodes[2].outputs[0]].shape = graph.tensors[graph.nodes[3].outputs[0]].shape = {3, 2};
        }) == "graph: loop 'loop' changes the type of a state");
}

TEST_CASE("the nodes of a loop are shown indented") {
  LoopBuilder network;
  const TensorId x = network.input("x", {3, 2}), s = network.input("s", {2});
  const auto begun = network.loop(3, {s, x}, {{.is_backwards = true}});
  network.output(network.end_loop(3, {network.node(Operator::add, {begun[0], begun[1]}, {}, "sum")})[0], "y");
  CHECK(to_text(network.graph) ==
        "network net(%0 f32[3,2] x, %1 f32[2] s)\n"
        "  %2 f32[2], %3 f32[2] = loop(%1, %0) count=3 tensors=backwards  loop\n"
        "    %4 f32[2] = add(%2, %3)  sum\n"
        "  %5 f32[2] = end_loop(%4) count=3  end\n"
        "  return %5 y\n");
}

TEST_CASE("the multiply-adds of a network are those of all iterations") {
  const Size length = Size::symbol("L");
  LoopBuilder network;
  const TensorId x = network.input("x", {length, 4}), w = network.weights("w", {4, 4});
  const auto product = [&](TensorId a) { return network.node(Operator::matmul, {a, w}, MatmulAttributes{}); };
  const auto begun = network.loop(length, {x});
  const auto inner = network.loop(3, {product(begun[0])});
  const auto after = network.end_loop(3, {product(inner[0])});
  network.output(product(network.end_loop(length, {after[0]})[0]), "y");
  CHECK(multiply_adds(network.graph) == length * 16 * (length + length * 3 + 1));
}

// y[t] = tanh(y[t - 1] + x[t]), from the last entry on, and the sum of z = y * s over an inner loop.
TEST_CASE("the evaluation of a loop is that of loops in C++, for every number of iterations") {
  const Size length = Size::symbol("L");
  LoopBuilder network;
  const TensorId x = network.input("x", {length, 2}), s = network.input("s", {2}), zero = network.input("zero", {2});
  const auto begun = network.loop(length, {zero, x}, {{.is_backwards = true}});
  const TensorId y = network.node(Operator::tanh, {network.node(Operator::add, {begun[0], begun[1]})});
  const auto inner = network.loop(3, {zero});
  const auto total =
      network.end_loop(3, {network.node(Operator::add, {inner[0], network.node(Operator::mul, {y, s})})});
  const auto ended = network.end_loop(length, {y, y, total[0]}, {{.is_backwards = true}, {}});
  for (const TensorId id : ended) network.output(id, "o" + std::to_string(id));
  validate(network.graph);
  const std::vector<float> scale = {0.5F, -2};
  for (const std::size_t steps : {1U, 2U, 7U}) {
    std::vector<float> input, states(2 * steps), sums(2 * steps);
    for (std::size_t i = 0; i < 2 * steps; ++i) input.push_back(std::sin(static_cast<float>(i)));
    float state[2] = {0, 0};
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t t = steps - 1 - step;
      for (std::size_t c = 0; c < 2; ++c) {
        state[c] = std::tanh(state[c] + input[2 * t + c]);
        states[2 * t + c] = state[c];
        for (int i = 0; i < 3; ++i) sums[2 * step + c] += state[c] * scale[c];
      }
    }
    const auto tensors = evaluate(network.graph, {{"L", static_cast<std::int64_t>(steps)}},
                                  {bytes_of(input), bytes_of(scale), bytes_of({0, 0})});
    const auto check = [&](TensorId id, const std::vector<float>& expected) {
      const std::vector<float> found = floats_of(tensors[id]);
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));
    };
    check(ended[0], {state[0], state[1]});
    check(ended[1], states);
    check(ended[2], sums);
  }
}

TEST_CASE("with all outputs, each tensor of a loop is held for all iterations of the loops around it") {
  LoopBuilder network;
  const TensorId x = network.input("x", {4, 2}), s = network.input("s", {2});
  const auto outer = network.loop(4, {s, x}, {{}});
  const auto inner = network.loop(3, {outer[0]});
  const TensorId sum = network.node(Operator::add, {inner[0], outer[1]}, {}, "sum");
  const auto after = network.end_loop(3, {sum});
  network.output(network.end_loop(4, {after[0]})[0], "y");
  const Graph all = with_all_outputs(network.graph);
  validate(all);
  const HeldTensors held(all);
  CHECK(to_text(type_of(all.tensor(held.find(sum).tensor))) == "f32[4,3,2]");
  CHECK(held.find(sum).loops == std::vector<std::size_t>{0, 1});
  CHECK(to_text(type_of(all.tensor(held.find(outer[1]).tensor))) == "f32[4,2]");
  CHECK(held.find(outer[1]).loops == std::vector<std::size_t>{0});
  CHECK(held.find(x).tensor == x);
  CHECK(held.find(x).loops.empty());
}

TEST_CASE("a conversion of a layout inside of a loop is not read behind it") {
  LoopBuilder network;
  const TensorId x = network.input("x", {1, 128, 24, 24}), s = network.input("s", {4});
  const ConvAttributes conv = {{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}};
  TensorId image = x;
  for (const char* name : {"first", "second"})
    image = network.node(Operator::conv, {image, network.weights("w", {128, 128, 3, 3})}, conv, name);
  const auto begun = network.loop(3, {s});
  const TensorId next = network.node(Operator::neg, {begun[0]}, {}, "next");
  const auto ended = network.end_loop(3, {next, image}, {{}});
  network.output(ended[1], "all");
  network.output(image, "image");
  const Graph chosen = choose_layouts(network.graph, 8);
  validate(chosen);
  CHECK(chosen.tensor(image).channel_block == 8);
}

// Each state becomes the halves of the other, which lie side by side in its memory.
TEST_CASE("no copy between states reads a state that was replaced, also through concats in place") {
  LoopBuilder network;
  const TensorId a = network.input("a", {32}), b = network.input("b", {32});
  const auto begun = network.loop(9, {a, b});
  const auto half = [&](TensorId x, std::int64_t first) {
    return network.node(Operator::slice, {x}, SliceAttributes{{first}, {1}, {16}});
  };
  const auto joined = [&](TensorId x) {
    return network.node(Operator::concat, {half(x, 0), half(x, 16)}, DimensionAttributes{0});
  };
  const TensorId next_a = joined(begun[1]), next_b = joined(begun[0]);
  const auto ended = network.end_loop(9, {next_a, next_b});
  network.output(ended[0], "y");
  network.output(ended[1], "z");
  const Graph graph = alias_moves(network.graph, 64);
  const TensorStorages storages = assign_storages(graph);
  const auto whole = [&](std::uint32_t storage) { return whole_of(storages.storages, storage); };
  std::set<std::uint32_t> replaced;
  for (const PlacedCopy& copy : storages.copies) {
    if (graph.nodes.at(copy.node).op != Operator::end_loop) continue;
    CHECK(!replaced.contains(whole(copy.copy.from)));
    CHECK(whole(copy.copy.from) != whole(copy.copy.to));
    replaced.insert(whole(copy.copy.to));
  }
  for (const TensorId state : begun) CHECK(replaced.contains(storages.of_tensor[state]));
}
