// The init plans of networks, run on this machine for other targets.
#include "host/export/run_init_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "crosscompile/target/init_target.h"
#include "crosscompile/target/needed_features.h"
#include "crosscompile/target/resolve.h"
#include "host/export/replace_init_plan.h"
#include "host/graph/compile/compile_network.h"
#include "module/manifest.h"
#include "tests/support/network_builder.h"
#include "tests/support/sample.h"

using namespace ferry;
using namespace ferry::graph;
using Bytes = std::vector<std::uint8_t>;

namespace {

constexpr std::int64_t kChannels = 64, kSize = 28;

// Convolutions by Winograd's algorithm with tiles of 4 x 4, and directly, and a product.
Graph network() {
  test::NetworkBuilder network;
  const auto conv = [&](TensorId x, std::int64_t from, std::int64_t kernel) {
    WindowAttributes window;
    window.kernel = kernel;
    window.pad_before = window.pad_after = kernel / 2;
    const TensorId weights = network.weights("w", {kChannels, from, kernel, kernel}, 0.1F);
    return network.node(Operator::conv, {x, weights}, ConvAttributes{{window, window}, 1});
  };
  TensorId x = conv(network.input("x", {1, 3, kSize, kSize}), 3, 1);
  x = conv(conv(x, kChannels, 3), kChannels, 1);
  x = network.node(Operator::reduce_mean, {x}, ReduceAttributes{{2, 3}, false});
  network.output(network.node(Operator::matmul, {x, network.weights("m", {kChannels, 67})}, MatmulAttributes{}), "y");
  return network.graph;
}

// Returns the constants of the network for a target, packed by code for `init`.
std::vector<Bytes> packed(const char* target, const Target& init, const Device& device) {
  const Target other = resolve_target(target);
  const Graph graph = optimized(network(), other);
  const CompiledNetwork compiled =
      compile_optimized(graph, other, {.form = CodeForm::relocatable, .init_target = &init});
  const CompiledModule module(compiled.module, compiled.blobs);
  REQUIRE(has_init_modules(module));
  REQUIRE(!module.manifest().functions.front().init.steps.empty());
  const CompiledModule result = run_init_plan(module, device);
  CHECK(!has_init_modules(result));
  CHECK(!needs_instance(result.manifest().functions.front()));
  std::vector<Bytes> contents;
  for (std::size_t i = 0; i < result.manifest().constants.size(); ++i)
    contents.push_back(read_constant(result.manifest(), result.blobs(), i));
  return contents;
}

// Targets of this machine: everything it offers, its baseline with all of its features and, for `each`, with one of
// them alone: each sixth feature, or each with FERRY_INIT_FEATURES_ALL. FERRY_INIT_FEATURES_SEED draws others.
std::vector<Target> machines(bool each) {
  const Target host = resolve_target("host");
  std::vector<Target> targets{host};
  std::string all;
  for (const std::string& feature : needed_features(host)) {
    all += (all.empty() ? "+" : ",+") + feature;
    const bool is_drawn = std::getenv("FERRY_INIT_FEATURES_ALL") != nullptr ||
                          test::part_of(feature, 6, test::sample_seed("FERRY_INIT_FEATURES_SEED")) == 0;
    if (each && is_drawn) targets.push_back(resolve_target("llvm -mtriple=" + host.triple + " -mattr=+" + feature));
  }
  if (!all.empty()) targets.push_back(resolve_target("llvm -mtriple=" + host.triple + " -mattr=" + all));
  return targets;
}

std::vector<float> floats(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace

TEST_CASE("init plans compute the same bytes with the features of any machine") {
  const Device device = local_device();
  bool each = true;
  for (const char* target : {"x86-64-v3 -l2-bytes=2097152", "riscv64-v", "armv7"}) {
    CAPTURE(std::string(target));
    const std::vector<Bytes> expected = packed(target, init_target(), device);
    for (const Target& machine : machines(std::exchange(each, false))) {
      CAPTURE(machine.text);
      CHECK(packed(target, machine, device) == expected);
    }
  }
}

TEST_CASE("the layout of packed weights is the target's, whatever machine packs them") {
  const Device device = local_device();
  const std::vector<Bytes> narrow = packed("raspberry-pi-4", init_target(), device);
  const std::vector<Bytes> wide = packed("x86-64-v4", init_target(), device);
  CHECK(narrow != wide);
}

TEST_CASE("weights that are packed on this machine are those of the network") {
  const Device device = local_device();
  const Target target = resolve_target("x86-64-v3 -l2-bytes=2097152");
  const Graph graph = optimized(network(), target);
  // Every weight of the product stands in a constant once, in some order; the rest of the constant is zero.
  std::vector<float> weights;
  for (const Tensor& tensor : graph.tensors)
    if (tensor.name == "m") weights = floats({tensor.constant->bytes.begin(), tensor.constant->bytes.end()});
  REQUIRE(weights.size() == kChannels * 67);
  std::ranges::sort(weights);
  bool is_found = false;
  for (const Bytes& bytes : packed("x86-64-v3 -l2-bytes=2097152", init_target(), device)) {
    std::vector<float> values = floats(bytes);
    std::erase(values, 0.0F);
    std::ranges::sort(values);
    is_found = is_found || values == weights;
  }
  CHECK(is_found);
}
