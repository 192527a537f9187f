// The table of passes over networks: which of them a target has, and what is shown after each.
#include "host/graph/compile/graph_passes.h"

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "host/graph/graph_text.h"
#include "tests/support/network_builder.h"

#include <map>

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

// A convolution of many channels between two transposes that cancel.
Graph convolution() {
  NetworkBuilder network;
  const TransposeAttributes back = {{0, 2, 1, 3}};
  const TensorId there = network.node(Operator::transpose, {network.input("x", {1, 64, 28, 28})}, back);
  const TensorId x = network.node(Operator::transpose, {there}, back);
  const ConvAttributes conv = {{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 1};
  const TensorId first = network.node(Operator::conv, {x, network.weights("w", {64, 64, 3, 3})}, conv, "first");
  network.output(network.node(Operator::conv, {first, network.weights("v", {64, 64, 3, 3})}, conv, "second"), "y");
  return network.graph;
}

// Returns the names of the passes that changed the network.
std::vector<std::string> changing_passes(const Graph& network, const char* target, const Algorithms& algorithms = {}) {
  std::vector<std::string> names;
  std::string before = to_text(network);
  optimized(network, resolve_target(target), algorithms, {}, [&](std::string_view pass, const Graph& now) {
    std::string text = to_text(now);
    if (text != before) names.emplace_back(pass);
    before = std::move(text);
  });
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a target has the passes of its groups, and a network those of its algorithms") {
  const Graph network = convolution();
  CHECK(changing_passes(network, "x86-64-v3") == Names{"remove_moves", "choose_layouts", "choose_winograd"});
  CHECK(changing_passes(network, "x86-64-v3", {.winograd = false}) == Names{"remove_moves", "choose_layouts"});
  CHECK(changing_passes(network, "riscv64") == Names{"remove_moves"});  // without vectors
  CHECK(changing_passes(network, "opencl") == Names{"remove_moves"});
}

TEST_CASE("the network is shown after each pass in turn, also after those that a target does not have") {
  Names shown, names;
  for (const GraphPass& pass : graph_passes()) names.emplace_back(pass.name);
  optimized(convolution(), resolve_target("opencl"), {}, {},
            [&](std::string_view pass, const Graph&) { shown.emplace_back(pass); });
  CHECK(shown == names);
}
