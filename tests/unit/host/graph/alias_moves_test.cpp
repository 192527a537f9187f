// Concats and slices that move nothing, and where the tensors of a network then lie.
#include "host/graph/compile/alias_moves.h"

#include <doctest/doctest.h>

#include "host/graph/operator_kind.h"
#include "host/graph/passes/choose_layouts.h"
#include "host/graph/passes/make_groups.h"
#include "host/graph/reference/all_outputs.h"
#include "module/manifest.h"
#include "tests/support/network_builder.h"
#include "tests/unit/host/graph/computed_plan.h"

#include <random>

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

constexpr std::uint64_t kAlignment = 64;

bool is_in_place(const Graph& graph, TensorId result) {
  for (const Node& node : graph.nodes)
    if (node.outputs[0] == result) return node.in_place;
  return false;
}

// Checks that the plan computes what the network does, also with results in the memory of inputs that are read for the
// last time, and returns the number of its copies.
std::size_t checked_copies(const Graph& graph, const std::vector<std::vector<std::int64_t>>& all_symbols = {{}}) {
  validate(graph);
  const FunctionInfo function = test::composed(graph, false), updating = test::composed(graph, true);
  for (const std::vector<std::int64_t>& symbols : all_symbols) {
    const std::vector<test::Elements> expected = test::run_nodes(graph, symbols);
    CHECK(test::run_plan(graph, function, symbols) == expected);
    CHECK(test::run_plan(graph, updating, symbols) == expected);
  }
  return static_cast<std::size_t>(std::ranges::count_if(
      function.plan.steps, [](const Step& step) { return std::holds_alternative<CopyStep>(step); }));
}

struct Branches {
  NetworkBuilder network;
  TensorId x = network.input("x", {1, 8, 4, 4});
  TensorId relu(TensorId from) { return network.node(Operator::relu, {from}); }
  TensorId concat(std::vector<TensorId> parts, std::size_t dimension = 1) {
    return network.node(Operator::concat, std::move(parts), DimensionAttributes{dimension});
  }
  TensorId reduced(TensorId from) { return network.node(Operator::reduce_max, {from}, ReduceAttributes{{2, 3}, true}); }
  Graph run() { return alias_moves(network.graph, kAlignment); }
};

}  // namespace

TEST_CASE("the inputs of a concat are written where they lie in its result") {
  Branches b;
  const TensorId all = b.concat({b.relu(b.x), b.network.node(Operator::neg, {b.x})});
  b.network.output(b.reduced(all), "y");
  const Graph graph = b.run();
  CHECK(is_in_place(graph, all));
  CHECK(checked_copies(graph) == 0);
}

TEST_CASE("a concat has a kernel where an input would lie at no multiple of the alignment") {
  Branches b;
  // 8 channels of one float32 are 32 bytes.
  const TensorId both = b.concat({b.reduced(b.x), b.reduced(b.relu(b.x))});
  b.network.output(b.reduced(both), "y");
  const Graph graph = b.run();
  CHECK_FALSE(is_in_place(graph, both));
  checked_copies(graph);
  CHECK(is_in_place(alias_moves(b.network.graph, 32), both));
}

TEST_CASE("an input of a concat is copied if it is an input, a constant or an output, or lies in another concat") {
  Branches b;
  const TensorId shared = b.relu(b.x), output = b.network.node(Operator::neg, {b.x});
  const TensorId constant = b.network.weights("w", {1, 8, 4, 4});
  const TensorId first = b.concat({shared, b.x, output, constant, b.network.node(Operator::abs, {b.x})});
  const TensorId second = b.concat({b.network.node(Operator::exp, {b.x}), shared, shared});
  b.network.output(b.reduced(first), "y");
  b.network.output(b.reduced(second), "z");
  b.network.output(output, "u");
  const Graph graph = b.run();
  CHECK(is_in_place(graph, first));
  CHECK(is_in_place(graph, second));
  CHECK(checked_copies(graph) == 5);
}

TEST_CASE("a concat of which nothing can be written in place has a kernel") {
  Branches b;
  const TensorId all = b.concat({b.x, b.x});
  b.network.output(b.reduced(all), "y");
  CHECK_FALSE(is_in_place(b.run(), all));
}

TEST_CASE("a concat with elementwise nodes behind it keeps its kernel where an input would be copied") {
  Branches b;
  const TensorId copied =
      b.concat({b.network.node(Operator::reshape, {b.relu(b.x)}, ReshapeAttributes{{1, 8, 4, 4}}), b.x});
  b.network.output(b.reduced(b.relu(copied)), "y");
  const TensorId placed = b.concat({b.network.node(Operator::abs, {b.x}), b.network.node(Operator::neg, {b.x})});
  b.network.output(b.reduced(b.relu(placed)), "z");
  const Graph graph = b.run();
  CHECK_FALSE(is_in_place(graph, copied));
  CHECK(is_in_place(graph, placed));
  CHECK(checked_copies(graph) == 0);
}

TEST_CASE("features to which every concat adds one lie in one tensor") {
  Branches b;
  std::vector<TensorId> features{b.relu(b.x)};
  std::vector<TensorId> concats;
  for (int layer = 0; layer < 4; ++layer) {
    features.push_back(
        b.network.node(Operator::conv,
                       {features.size() == 1 ? features[0] : concats.back(),
                        b.network.weights("w", {8, 8 * static_cast<std::int64_t>(features.size()), 1, 1})},
                       ConvAttributes{{{}, {}}, 1}));
    concats.push_back(b.concat(features));
  }
  b.network.output(b.reduced(concats.back()), "y");
  const Graph graph = b.run();
  for (const TensorId concat : concats) CHECK(is_in_place(graph, concat));
  CHECK(checked_copies(graph) == 0);
}

TEST_CASE("a concat with an open size before its dimension has a kernel, one with open sizes behind it is in place") {
  const auto in_place = [](Size batch, Size width, std::vector<std::vector<std::int64_t>> symbols) {
    NetworkBuilder network;
    const TensorId x = network.input("x", {std::move(batch), 8, 2, std::move(width)});
    const TensorId all =
        network.node(Operator::concat, {network.node(Operator::relu, {x}), network.node(Operator::neg, {x})},
                     DimensionAttributes{1});
    network.output(network.node(Operator::softmax, {all}, DimensionAttributes{1}), "y");
    const Graph graph = alias_moves(network.graph, kAlignment);
    checked_copies(graph, symbols);
    return is_in_place(graph, all);
  };
  CHECK(in_place(1, Size::symbol("W"), {{1}, {5}, {64}}));
  CHECK_FALSE(in_place(Size::symbol("N"), 4, {{1}, {3}}));
  CHECK_FALSE(in_place(2, 4, {{}}));
}

TEST_CASE("concats of images in blocks are in place where the blocks are full") {
  for (const std::int64_t channels : {16, 24}) {
    NetworkBuilder network;
    const TensorId x = network.input("x", {1, 16, 6, 6});
    const auto conv = [&](TensorId from, std::int64_t in, std::int64_t out) {
      const TensorId w = network.weights("w", {out, in, 3, 3});
      return network.node(Operator::conv, {from, w}, ConvAttributes{{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 1});
    };
    const TensorId first = conv(x, 16, 64);
    const TensorId all =
        network.node(Operator::concat, {conv(first, 64, channels), conv(first, 64, 64)}, DimensionAttributes{1});
    network.output(conv(conv(all, 64 + channels, 64), 64, 16), "y");
    const Graph graph = alias_moves(choose_layouts(network.graph, 16), kAlignment);
    CHECK(is_in_place(graph, all));
    CHECK((graph.tensor(all).channel_block == 16) == (channels == 16));
    CHECK(checked_copies(graph) == 0);
  }
}

TEST_CASE("a slice that is one range of its input is read there") {
  const auto in_place = [](Shape shape, SliceAttributes slice) {
    NetworkBuilder network;
    const TensorId x = network.input("x", std::move(shape));
    const TensorId part = network.node(Operator::slice, {network.node(Operator::relu, {x})}, std::move(slice));
    network.output(network.node(Operator::softmax, {part}, DimensionAttributes{0}), "y");
    const Graph graph = alias_moves(network.graph, kAlignment);
    checked_copies(graph, std::vector<std::vector<std::int64_t>>{std::vector<std::int64_t>(graph.symbols.size(), 3)});
    return is_in_place(graph, part);
  };
  CHECK(in_place({8, 16}, {{2, 0}, {1, 1}, {3, 16}}));
  CHECK(in_place({4, 8, 16}, {{3, 2, 0}, {1, 1, 1}, {1, 3, 16}}));
  CHECK(in_place({4, 8, 16}, {{3, 2, 0}, {7, 1, 1}, {1, 3, 16}}));
  CHECK(in_place({4, Size::symbol("N"), 16}, {{0, 2, 0}, {1, 1, 1}, {1, 1, 16}}));
  CHECK(in_place({6, Size::symbol("N"), 16}, {{2, 0, 0}, {1, 1, 1}, {3, Size::symbol("N"), 16}}));
  CHECK_FALSE(in_place({8, 16}, {{2, 0}, {2, 1}, {3, 16}}));  // rows apart
  CHECK_FALSE(in_place({8, 16}, {{2, 0}, {1, 1}, {3, 15}}));  // parts of rows
  CHECK_FALSE(in_place({8, 15}, {{2, 0}, {1, 1}, {3, 15}}));  // not aligned
  CHECK_FALSE(in_place({4, 8, 16}, {{0, 2, 0}, {1, 1, 1}, {2, 3, 16}}));
  CHECK_FALSE(in_place({8, 16}, {{7, 0}, {-1, 1}, {3, 16}}));
}

TEST_CASE("a network of which all results are outputs has the kernels that it has without") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {8, 16}), y = network.input("y", {3, 16});
  const TensorId part = network.node(Operator::slice, {x}, SliceAttributes{{2, 0}, {1, 1}, {3, 16}}, "part");
  const TensorId factor = network.node(Operator::softmax, {y}, DimensionAttributes{1}, "factor");
  const TensorId product = network.node(Operator::mul, {factor, y}, {}, "product");
  network.output(network.node(Operator::add, {part, product}, {}, "sum"), "z");
  const Graph graph = alias_moves(network.graph, kAlignment);
  REQUIRE(is_in_place(graph, part));
  const auto names_of_groups = [](const Graph& of) {
    std::vector<std::string> names;
    for (const Group& group : make_groups(of)) names.push_back(name_of(of, group));
    return names;
  };
  CHECK(names_of_groups(graph) == std::vector<std::string>{"factor+product+sum"});
  CHECK(names_of_groups(with_all_outputs(graph)) == std::vector<std::string>{"part", "factor+product+sum"});
}

TEST_CASE("plans of random networks with concats and slices in place compute what the networks do") {
  std::mt19937 random(17);
  std::size_t in_place = 0;
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    NetworkBuilder network;
    const bool is_open = round % 3 == 0;
    // Rows of 64 bytes, or of a half, so that some offsets are not aligned.
    const std::int64_t width = random() % 4 == 0 ? 8 : 16;
    const Size inner = is_open ? Size::symbol("S") : Size(1);
    std::vector<std::pair<TensorId, std::int64_t>> tensors;  // with their rows
    const auto pick = [&]() -> const auto& { return tensors[random() % tensors.size()]; };
    for (int i = 0; i < 2; ++i) {
      const auto rows = static_cast<std::int64_t>(1 + random() % 4);
      tensors.emplace_back(network.input("x" + std::to_string(i), {1, rows, inner, width}), rows);
    }
    tensors.emplace_back(network.weights("w", {1, 2, 1, width}), 2);
    if (is_open) tensors.pop_back();
    const std::size_t nodes = 2 + random() % 14;
    for (std::size_t n = 0; n < nodes; ++n) {
      const auto [from, rows] = pick();
      switch (random() % 8) {
        case 0:
        case 1: tensors.emplace_back(network.node(Operator::relu, {from}), rows); break;
        case 2:
        case 3: {
          std::vector<TensorId> parts;
          std::int64_t all = 0;
          for (std::size_t part = 0; part < 1 + random() % 4; ++part) {
            const auto [id, count] = pick();
            parts.push_back(id);
            all += count;
          }
          if (all > 64) break;
          tensors.emplace_back(network.node(Operator::concat, parts, DimensionAttributes{1}), all);
          break;
        }
        case 4:
        case 5: {
          std::vector<TensorId> alike;  // tensors with as many rows, this one among them
          for (const auto& [id, count] : tensors)
            if (count == rows) alike.push_back(id);
          tensors.emplace_back(network.node(Operator::add, {from, alike[random() % alike.size()]}), rows);
          break;
        }
        case 6: {
          const auto begin = static_cast<std::int64_t>(random() % static_cast<std::size_t>(rows));
          const auto count = static_cast<std::int64_t>(1 + random() % static_cast<std::size_t>(rows - begin));
          tensors.emplace_back(network.node(Operator::slice, {from},
                                            SliceAttributes{{0, begin, 0, 0}, {1, 1, 1, 1}, {1, count, inner, width}}),
                               count);
          break;
        }
        default:
          tensors.emplace_back(network.node(Operator::reshape, {from}, ReshapeAttributes{{1, rows, inner, width}}),
                               rows);
      }
    }
    network.output(tensors.back().first, "last");
    for (int o = 0; o < 2; ++o) network.output(pick().first, "y" + std::to_string(o));
    const Graph graph = alias_moves(network.graph, kAlignment);
    for (const Node& node : graph.nodes) in_place += node.in_place ? 1 : 0;
    checked_copies(graph, is_open ? std::vector<std::vector<std::int64_t>>{{1}, {2}, {5}}
                                  : std::vector<std::vector<std::int64_t>>{{}});
  }
  CHECK(in_place > 400);
}
