// Which tensors have their channels in blocks, and that networks compute the same with them whatever lies in the lanes
// past the channels.
#include "host/graph/passes/choose_layouts.h"

#include <doctest/doctest.h>

#include "host/graph/kernels/group_program.h"
#include "host/graph/passes/make_groups.h"
#include "host/graph/reference/definition.h"
#include "host/lang/reference/reference.h"
#include "tests/support/network_builder.h"
#include "tests/support/seeded.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace ferry;
using namespace ferry::graph;
using test::NetworkBuilder;

namespace {

constexpr std::int64_t kLanes = 4;

std::vector<float> floats_of(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Overwrites the lanes past the channels of an image in blocks.
void poison(const Tensor& tensor, std::vector<std::byte>& bytes) {
  if (tensor.channel_block == 1) return;
  const Shape shape = stored_shape(tensor);
  const std::int64_t blocks = *shape[1].constant(), pixels = *(shape[2] * shape[3]).constant(),
                     channels = *tensor.shape[1].constant();
  std::vector<float> values = floats_of(bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t channel = at / (pixels * kLanes) % blocks * kLanes + at % kLanes;
    if (channel >= channels) values[i] = std::numeric_limits<float>::quiet_NaN();
  }
  std::memcpy(bytes.data(), values.data(), bytes.size());
}

using Contents = std::vector<std::vector<std::byte>>;

// Evaluates a network group by group, and poisons what each writes.
Contents evaluate_poisoned(const Graph& graph, const Contents& inputs) {
  Contents tensors(graph.tensors.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) tensors[graph.inputs[i]] = inputs[i];
  for (std::size_t t = 0; t < tensors.size(); ++t)
    if (graph.tensors[t].constant != nullptr) {
      const auto bytes = std::as_bytes(graph.tensors[t].constant->bytes);
      tensors[t].assign(bytes.begin(), bytes.end());
    }
  const auto view = [&](TensorId id) {
    for (const Node& node : graph.nodes)
      if (node.op == Operator::reshape && node.outputs[0] == id) tensors[id] = tensors[node.inputs[0]];
  };
  for (const Group& group : make_groups(graph)) {
    const GroupDefinition definition = definition_of(graph, group, {});
    std::vector<const void*> arguments;
    for (const TensorId id : definition.tensors) {
      if (tensors[id].empty()) view(id);
      arguments.push_back(tensors[id].data());
    }
    arguments.back() = nullptr;
    const lang::Reference reference(definition.program, definition.symbols, arguments);
    const TensorId output = definition.tensors.back();
    tensors[output] = reference.evaluate_all(arguments.size() - 1);
    poison(graph.tensor(output), tensors[output]);
  }
  for (const TensorId id : graph.outputs)
    if (tensors[id].empty()) view(id);
  return tensors;
}

// Compares the outputs with and without the layouts, for random inputs. Returns the network with layouts.
Graph check_layouts(const Graph& graph) {
  const Graph blocked = choose_layouts(graph, kLanes);
  validate(blocked);
  Contents inputs;
  for (const TensorId id : graph.inputs) {
    const auto count = static_cast<std::size_t>(*element_count(graph.tensor(id).shape).constant());
    inputs.emplace_back(count * sizeof(float));
    fill(FillKind::random, 3 + inputs.size(), DType::f32, 0, count, inputs.back().data());
  }
  const Contents expected = evaluate(graph, {}, inputs), found = evaluate_poisoned(blocked, inputs);
  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    CHECK(blocked.tensor(blocked.outputs[o]).channel_block == 1);
    const std::vector<float> a = floats_of(expected[graph.outputs[o]]), b = floats_of(found[blocked.outputs[o]]);
    REQUIRE(a.size() == b.size());
    REQUIRE(!a.empty());
    float largest = 0;
    for (const float value : a) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) <= 1e-5F * largest);
  }
  return blocked;
}

std::size_t count_of(const Graph& graph, Operator op) {
  return static_cast<std::size_t>(std::ranges::count(graph.nodes, op, &Node::op));
}

// Whether the first node of an operator has a result in blocks.
bool is_blocked(const Graph& graph, Operator op) {
  return graph.tensor(std::ranges::find(graph.nodes, op, &Node::op)->outputs[0]).channel_block > 1;
}

const ConvAttributes kConv3x3 = {{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 1}, kPoint = {{{}, {}}, 1};

// A network that begins with an image in blocks.
struct Images {
  NetworkBuilder network;
  TensorId stem;

  explicit Images(std::int64_t channels, std::int64_t size = 9) {
    const TensorId x = network.input("x", {2, 3, size, size + 1});
    stem = conv(x, 3, channels, kConv3x3, 3);
  }
  TensorId conv(TensorId x, std::int64_t from, std::int64_t to, ConvAttributes attributes, std::int64_t kernel) {
    return network.node(
        Operator::conv,
        {x, network.weights("w", {to, from / attributes.groups, kernel, kernel}, 0.3F), network.weights("b", {to})},
        std::move(attributes));
  }
  // Two convolutions for which blocks pay, with a small result.
  TensorId last_convs(TensorId x, std::int64_t channels) {
    return conv(conv(x, channels, 64, kConv3x3, 3), 64, 4, kPoint, 1);
  }
};

}  // namespace

TEST_CASE("a chain of convolutions has its channels in blocks, and one conversion at its end") {
  for (const std::int64_t channels : {8, 6}) {
    Images images(channels);
    const TensorId y = images.network.node(Operator::relu, {images.last_convs(images.stem, channels)});
    images.network.output(images.network.node(Operator::add, {y, y}), "y");
    const Graph blocked = check_layouts(images.network.graph);
    CHECK(is_blocked(blocked, Operator::conv));
    CHECK(count_of(blocked, Operator::convert) == 1);
  }
}

TEST_CASE("residuals, batch normalisations and channels that blocks do not divide") {
  for (const std::int64_t channels : {8, 10}) {
    Images images(channels);
    NetworkBuilder& network = images.network;
    const TensorId c = network.weights("c", {channels}, 0.5F, 1);
    TensorId y = images.conv(images.stem, channels, channels, kConv3x3, 3);
    y = network.node(Operator::batch_norm, {y, c, network.weights("shift", {channels}), c, c}, BatchNormAttributes{});
    y = network.node(Operator::relu, {network.node(Operator::add, {y, images.stem})});
    y = network.node(Operator::mul, {y, network.weights("each", {1, channels, 1, 1})});
    y = network.node(Operator::minimum, {y, network.constant<float>("six", {1}, {0.5F}, DType::f32)});
    network.output(images.last_convs(y, channels), "y");
    CHECK(is_blocked(check_layouts(network.graph), Operator::add));
  }
}

TEST_CASE("a group in blocks may compute with truth values inside") {
  for (const std::int64_t channels : {8, 6}) {
    Images images(channels);
    NetworkBuilder& network = images.network;
    const TensorId c = images.conv(images.stem, channels, channels, kConv3x3, 3);
    const TensorId zero = network.constant<float>("zero", {}, {0}, DType::f32),
                   slope = network.constant<float>("slope", {}, {0.25F}, DType::f32);
    const TensorId is_negative = network.node(Operator::less, {c, zero});
    const TensorId y = network.node(Operator::where, {is_negative, network.node(Operator::mul, {c, slope}), c});
    network.output(images.last_convs(y, channels), "y");
    CHECK(is_blocked(check_layouts(network.graph), Operator::where));
  }
}

TEST_CASE("a computed element for each channel is read as it is") {
  for (const std::int64_t channels : {8, 6}) {
    Images images(channels);
    NetworkBuilder& network = images.network;
    const TensorId integers =
        network.constant("integers", {channels, 1, 1},
                         test::seeded_bytes<std::int8_t>(static_cast<std::size_t>(channels), 3), DType::i8);
    const TensorId bias =
        network.node(Operator::mul, {network.node(Operator::cast, {integers}, CastAttributes{DType::f32}),
                                     network.weights("scales", {channels, 1, 1})});
    const TensorId c = images.conv(images.stem, channels, channels, kConv3x3, 3);
    network.output(images.last_convs(network.node(Operator::add, {c, bias}), channels), "y");
    const Graph blocked = check_layouts(network.graph);
    CHECK(is_blocked(blocked, Operator::add));
    CHECK(count_of(blocked, Operator::convert) == 1);
  }
}

TEST_CASE("squeeze and excitation scales channels in blocks") {
  for (const std::int64_t channels : {8, 6}) {
    Images images(channels);
    NetworkBuilder& network = images.network;
    TensorId gate = network.node(Operator::reduce_mean, {images.stem}, ReduceAttributes{{2, 3}, true});
    gate = network.node(Operator::relu, {images.conv(gate, channels, 5, kPoint, 1)});
    gate = network.node(Operator::sigmoid, {images.conv(gate, 5, channels, kPoint, 1)});
    network.output(images.last_convs(network.node(Operator::mul, {images.stem, gate}), channels), "y");
    const Graph blocked = check_layouts(network.graph);
    CHECK(is_blocked(blocked, Operator::reduce_mean));
    CHECK(is_blocked(blocked, Operator::mul));
  }
}

TEST_CASE("depthwise and grouped convolutions") {
  for (const std::int64_t channels : {8, 6}) {
    Images images(channels);
    TensorId y = images.conv(images.stem, channels, channels, {{{3, 2, 1, 1, 0}, {3, 1, 1, 0, 1}}, channels}, 3);
    y = images.conv(y, channels, 16, {{{3, 1, 2, 2, 2}, {3, 1, 1, 1, 1}}, 2}, 3);
    images.network.output(images.last_convs(y, 16), "y");
    check_layouts(images.network.graph);
  }
}

TEST_CASE("pools and concatenations") {
  Images images(8);
  NetworkBuilder& network = images.network;
  const PoolAttributes pool = {{{3, 2, 1, 1, 1}, {2, 2, 1, 0, 1}}, true};
  const TensorId most = network.node(Operator::max_pool, {images.stem}, pool),
                 mean = network.node(Operator::average_pool, {images.stem}, pool);
  SUBCASE("of whole blocks") {
    network.output(images.last_convs(network.node(Operator::concat, {most, mean}, DimensionAttributes{1}), 16), "y");
    CHECK(is_blocked(check_layouts(network.graph), Operator::concat));
  }
  SUBCASE("of parts of blocks are plain") {
    const TensorId six = images.conv(mean, 8, 6, kPoint, 1);
    network.output(images.last_convs(network.node(Operator::concat, {most, six}, DimensionAttributes{1}), 14), "y");
    CHECK(!is_blocked(check_layouts(network.graph), Operator::concat));
  }
}

TEST_CASE("a blocked image of one pixel is plain without being converted if blocks divide its channels") {
  for (const std::int64_t channels : {8, 6}) {
    Images images(channels);
    NetworkBuilder& network = images.network;
    const TensorId wide = images.conv(images.conv(images.stem, channels, 64, kConv3x3, 3), 64, channels, kPoint, 1);
    const TensorId pooled = network.node(Operator::reduce_mean, {wide}, ReduceAttributes{{2, 3}, true});
    const TensorId flat = network.node(Operator::reshape, {pooled}, ReshapeAttributes{{2, channels}});
    network.output(network.node(Operator::matmul, {flat, network.weights("fc", {channels, 5})}, MatmulAttributes{}),
                   "y");
    const Graph blocked = check_layouts(network.graph);
    CHECK(is_blocked(blocked, Operator::conv));
    CHECK(count_of(blocked, Operator::convert) == (channels == 8 ? 0 : 1));
  }
}

TEST_CASE("networks without images have no layouts") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {2, 4, 6, 6}), y = network.input("y", {2, 4, 6, 6});
  const TensorId scores = network.node(Operator::matmul, {x, y}, MatmulAttributes{});
  const TensorId scaled = network.node(Operator::mul, {scores, network.constant<float>("c", {}, {0.5F}, DType::f32)});
  network.output(network.node(Operator::softmax, {scaled}, DimensionAttributes{3}), "z");
  const Graph blocked = check_layouts(network.graph);
  for (const Tensor& tensor : blocked.tensors) CHECK(tensor.channel_block == 1);
}

TEST_CASE("what reads an image in blocks plain shares one conversion") {
  Images images(8, 17);
  NetworkBuilder& network = images.network;
  const TensorId wide = images.last_convs(images.stem, 8);
  network.output(network.node(Operator::transpose, {wide}, TransposeAttributes{{0, 2, 3, 1}}), "y");
  network.output(network.node(Operator::softmax, {wide}, DimensionAttributes{1}), "z");
  CHECK(count_of(check_layouts(network.graph), Operator::convert) == 1);
}
