// Where depthwise convolutions are computed together with the convolution that they read.
#include "host/graph/passes/fuse_windows.h"

#include <doctest/doctest.h>

#include "crosscompile/target/resolve.h"
#include "host/graph/passes/make_groups.h"
#include "tests/support/network_builder.h"

#include <string>
#include <vector>

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

// A convolution with an activation, and a depthwise one of 3 x 3 that reads it.
struct Pair {
  std::int64_t channels = 32, groups = 32;
  Size height = 64;
  std::int64_t winograd_tile = 0;
  bool is_read_twice = false;
  std::int64_t block = 8;  // channels in a block of all images; 1: they are plain
};

// Returns the number of kernels with a second-level cache of 256 KiB, a quarter of which images of 64 x 64 pixels and
// 32 channels exceed.
std::size_t kernels_of(const Pair& pair, const char* target =
                                             "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 "
                                             "-l2-bytes=262144") {
  NetworkBuilder network;
  const auto in_blocks = [&](TensorId id) {
    network.graph.tensors[id].channel_block = pair.block;
    return id;
  };
  const TensorId x = in_blocks(network.input("x", {1, 16, pair.height, 64}));
  const TensorId wide = network.input("w", {pair.channels, 16, 1, 1});
  const TensorId deep = network.input("d", {pair.channels, pair.channels / pair.groups, 3, 3});
  const TensorId image = in_blocks(network.node(
      Operator::conv, {x, wide}, ConvAttributes{.windows = {{}, {}}, .winograd_tile = pair.winograd_tile}));
  const TensorId active = in_blocks(network.node(Operator::relu, {image}));
  const WindowAttributes window = {.kernel = 3, .pad_before = 1, .pad_after = 1};
  const TensorId y = in_blocks(
      network.node(Operator::conv, {active, deep}, ConvAttributes{.windows = {window, window}, .groups = pair.groups}));
  network.output(in_blocks(network.node(Operator::relu, {y})), "y");
  if (pair.is_read_twice) network.output(in_blocks(network.node(Operator::tanh, {active})), "z");
  const Graph fused = fuse_windows(network.graph, resolve_target(target));
  const std::vector<Group> groups = make_groups(fused);
  bool is_marked = false;
  for (const Node& node : fused.nodes)
    if (const auto* conv = std::get_if<ConvAttributes>(&node.attributes)) is_marked |= conv->fuses_input;
  CHECK(is_marked == (groups.size() == 1));
  return groups.size();
}

}  // namespace

TEST_CASE(
    "a depthwise convolution is computed with the convolution before it where that exceeds a quarter of the cache") {
  CHECK(kernels_of({}) == 1);
  CHECK(kernels_of({.height = 8}) == 2);
  CHECK(kernels_of({.height = Size::symbol("H")}) == 2);
}

TEST_CASE(
    "convolutions that are not depthwise, images that others read, plain images and Winograd's algorithm stay apart") {
  CHECK(kernels_of({.groups = 1}) == 2);
  CHECK(kernels_of({.groups = 16}) == 2);
  CHECK(kernels_of({.is_read_twice = true}) == 3);
  CHECK(kernels_of({.block = 1}) == 2);
  CHECK(kernels_of({.winograd_tile = 2}) == 2);
  CHECK(kernels_of({}, "opencl") == 2);
}
