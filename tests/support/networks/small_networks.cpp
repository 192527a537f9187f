#include "tests/support/networks/small_networks.h"

#include <cmath>

#include "tests/support/network_builder.h"

namespace ferry::test {

using namespace graph;

namespace {

const ConvAttributes kConv3x3 = {{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 1};

TensorId batch_norm(NetworkBuilder& network, TensorId x, std::int64_t channels) {
  return network.node(Operator::batch_norm,
                      {x, network.weights("scale", {channels}), network.weights("bias", {channels}),
                       network.weights("mean", {channels}), network.weights("variance", {channels}, 0.5F, 1)},
                      BatchNormAttributes{});
}

}  // namespace

Graph residual_network(const Size& batch) {
  NetworkBuilder network("residual");
  TensorId x = network.input("x", {batch, 3, 17, 15});
  x = network.node(Operator::conv, {x, network.weights("stem", {8, 3, 3, 3}, 0.3F)},
                   ConvAttributes{{{3, 2, 1, 1, 1}, {3, 2, 1, 1, 1}}, 1});
  x = network.node(Operator::relu, {batch_norm(network, x, 8)});
  x = network.node(Operator::max_pool, {x}, PoolAttributes{{{3, 2, 1, 1, 1}, {3, 2, 1, 1, 1}}});
  TensorId y = network.node(Operator::conv, {x, network.weights("a", {8, 8, 3, 3}, 0.2F)}, kConv3x3);
  y = network.node(Operator::relu, {batch_norm(network, y, 8)});
  y = network.node(Operator::conv, {y, network.weights("b", {8, 8, 3, 3}, 0.2F)}, kConv3x3);
  x = network.node(Operator::relu, {network.node(Operator::add, {batch_norm(network, y, 8), x})});
  y = network.node(Operator::conv, {x, network.weights("c", {16, 8, 3, 3}, 0.2F)},
                   ConvAttributes{{{3, 2, 1, 1, 1}, {3, 2, 1, 1, 1}}, 1});
  const TensorId shortcut = network.node(Operator::conv, {x, network.weights("d", {16, 8, 1, 1}, 0.4F)},
                                         ConvAttributes{{{1, 2, 1, 0, 0}, {1, 2, 1, 0, 0}}, 1});
  x = network.node(Operator::relu, {network.node(Operator::add, {y, shortcut})});
  x = network.node(Operator::reduce_mean, {x}, ReduceAttributes{{2, 3}, true});
  x = network.node(Operator::reshape, {x}, ReshapeAttributes{{batch, 16}});
  x = network.node(Operator::matmul, {x, network.weights("fc", {10, 16})}, MatmulAttributes{false, true});
  network.output(network.node(Operator::add, {x, network.weights("fc.bias", {10})}), "y");
  return network.graph;
}

Graph mobile_network(const Size& batch) {
  NetworkBuilder network("mobile");
  TensorId x = network.input("x", {batch, 6, 13, 11});
  x = network.node(Operator::conv,
                   {x, network.weights("depthwise", {6, 1, 3, 3}), network.weights("depthwise.bias", {6})},
                   ConvAttributes{{{3, 2, 1, 0, 1}, {3, 2, 1, 0, 1}}, 6});
  const TensorId low = network.constant<float>("low", {}, {0}, DType::f32),
                 high = network.constant<float>("high", {}, {6}, DType::f32);
  x = network.node(Operator::minimum, {network.node(Operator::maximum, {x, low}), high});
  const TensorId squeezed =
      network.node(Operator::conv, {x, network.weights("point", {4, 6, 1, 1}), network.weights("point.bias", {4})},
                   ConvAttributes{{{}, {}}, 1});
  const TensorId left =
      network.node(Operator::conv, {squeezed, network.weights("left", {6, 2, 3, 3}), network.weights("left.bias", {6})},
                   ConvAttributes{{{3, 1, 2, 2, 2}, {3, 1, 1, 1, 1}}, 2});
  const TensorId right =
      network.node(Operator::average_pool, {squeezed}, PoolAttributes{{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}});
  x = network.node(Operator::concat, {left, right}, DimensionAttributes{1});
  x = network.node(Operator::max_pool, {x}, PoolAttributes{{{2, 2, 1, 0, 0}, {3, 2, 1, 0, 0}}, true});
  network.output(network.node(Operator::sigmoid, {x}), "gates");
  network.output(network.node(Operator::reduce_mean, {x}, ReduceAttributes{{2, 3}, false}), "means");
  return network.graph;
}

Graph image_network(const Size& batch, const Size& height, const Size& width) {
  NetworkBuilder network("images");
  const auto conv = [&](TensorId x, std::int64_t from, std::int64_t to, std::int64_t size, std::int64_t stride = 1,
                        std::int64_t groups = 1) {
    const WindowAttributes window = {size, stride, 1, size / 2, size / 2};
    return network.node(
        Operator::conv,
        {x, network.weights("w", {to, from / groups, size, size}, 0.2F), network.weights("b", {to}, 0.1F)},
        ConvAttributes{{window, window}, groups});
  };
  const auto relu = [&](TensorId x) { return network.node(Operator::relu, {x}); };
  TensorId x = relu(conv(network.input("x", {batch, 3, height, width}), 3, 24, 3, 2));
  x = network.node(Operator::add, {x, relu(conv(relu(conv(x, 24, 40, 3)), 40, 24, 3))});
  TensorId y = conv(relu(conv(x, 24, 72, 1)), 72, 72, 5, 2, 72);
  TensorId gate = network.node(Operator::reduce_mean, {y}, ReduceAttributes{{2, 3}, true});
  gate = network.node(Operator::sigmoid, {conv(relu(conv(gate, 72, 20, 1)), 20, 72, 1)});
  y = batch_norm(network, network.node(Operator::mul, {y, gate}), 72);
  const PoolAttributes window{{{3, 2, 1, 1, 1}, {3, 2, 1, 1, 1}}};
  const TensorId left = network.node(Operator::max_pool, {conv(x, 24, 32, 1)}, window);
  y = network.node(Operator::concat, {left, conv(y, 72, 48, 1)}, DimensionAttributes{1});
  y = relu(conv(relu(conv(y, 80, 64, 3, 1, 2)), 64, 64, 3));
  network.output(network.node(Operator::average_pool, {y}, window), "pooled");
  y = network.node(Operator::reshape, {network.node(Operator::reduce_max, {y}, ReduceAttributes{{2, 3}, true})},
                   ReshapeAttributes{{batch, 64}});
  network.output(network.node(Operator::matmul, {y, network.weights("fc", {64, 10})}, MatmulAttributes{}), "y");
  return network.graph;
}

Graph filters_network(const Size& batch, const Size& height, const Size& width) {
  NetworkBuilder network("filters");
  const auto conv = [&](TensorId x, std::int64_t from, std::int64_t size, std::int64_t groups = 1) {
    const WindowAttributes window = {size, 1, 1, size / 2, size / 2};
    return network.node(Operator::conv, {x, network.weights("w", {32, from / groups, size, size}, 0.2F)},
                        ConvAttributes{{window, window}, groups});
  };
  TensorId x = conv(network.input("x", {batch, 3, height, width}), 3, 1);
  const TensorId y = network.node(Operator::relu, {conv(x, 32, 3)});
  x = network.node(Operator::add, {conv(y, 32, 3), x});
  network.output(conv(x, 32, 5, 32), "y");
  return network.graph;
}

Graph branching_network(const Size& batch) {
  NetworkBuilder network("branches");
  const auto conv = [&](TensorId x, std::int64_t from, std::int64_t to, std::int64_t size) {
    const WindowAttributes window = {size, 1, 1, size / 2, size / 2};
    return network.node(Operator::conv,
                        {x, network.weights("w", {to, from, size, size}, 0.2F), network.weights("b", {to})},
                        ConvAttributes{{window, window}, 1});
  };
  const auto relu = [&](TensorId x) { return network.node(Operator::relu, {x}); };
  const auto add = [&](TensorId a, TensorId b) { return network.node(Operator::add, {a, b}); };
  const auto concat = [&](std::vector<TensorId> parts) {
    return network.node(Operator::concat, std::move(parts), DimensionAttributes{1});
  };
  const TensorId x = network.input("x", {batch, 16, 8, 6});
  // As in SqueezeNet.
  const TensorId squeezed = relu(conv(x, 16, 16, 1));
  TensorId y = concat({relu(conv(squeezed, 16, 32, 1)), relu(conv(squeezed, 16, 32, 3)), x});
  // As in DenseNet.
  std::vector<TensorId> features{relu(conv(y, 80, 16, 1))};
  for (std::int64_t layer = 1; layer < 4; ++layer) {
    features.push_back(conv(y, layer == 1 ? 80 : 16 * layer, 16, 3));
    y = concat(features);
    y = layer % 2 == 0 ? relu(y) : y;
  }
  // Residuals: the first is read again later.
  const TensorId kept = relu(conv(y, 64, 32, 1));
  y = relu(add(conv(relu(conv(kept, 32, 32, 3)), 32, 32, 1), kept));
  y = add(relu(conv(y, 32, 32, 3)), y);
  y = add(add(y, kept), relu(y));
  const auto part = [&](std::int64_t begin, std::int64_t channels) {
    return network.node(Operator::slice, {y}, SliceAttributes{{0, begin, 0, 0}, {1, 1, 1, 1}, {batch, channels, 8, 6}});
  };
  const TensorId first = part(0, 8), second = part(8, 24);
  network.output(concat({network.node(Operator::neg, {second}), first}), "turned");
  network.output(network.node(Operator::reduce_mean, {concat({first, second})}, ReduceAttributes{{2, 3}}), "means");
  network.output(features[1], "feature");
  return network.graph;
}

Graph encoder_network(const Size& batch, const Size& length) {
  constexpr std::int64_t kWidth = 16, kHeads = 2;
  NetworkBuilder network("encoder");
  const TensorId tokens = network.input("tokens", {batch, length}, DType::i64);
  TensorId x =
      network.node(Operator::gather, {network.weights("embedding", {20, kWidth}), tokens}, DimensionAttributes{0});
  const auto norm = [&](TensorId in) {
    return network.node(Operator::layer_norm,
                        {in, network.weights("gamma", {kWidth}), network.weights("beta", {kWidth})},
                        LayerNormAttributes{2, 1e-5});
  };
  const auto linear = [&](TensorId in, std::int64_t from, std::int64_t to) {
    const TensorId product =
        network.node(Operator::matmul, {in, network.weights("w", {from, to}, 0.3F)}, MatmulAttributes{});
    return network.node(Operator::add, {product, network.weights("b", {to})});
  };
  const TensorId normed = norm(x);
  const auto heads = [&] {
    const TensorId split = network.node(Operator::reshape, {linear(normed, kWidth, kWidth)},
                                        ReshapeAttributes{{batch, length, kHeads, kWidth / kHeads}});
    return network.node(Operator::transpose, {split}, TransposeAttributes{{0, 2, 1, 3}});
  };
  const TensorId query = heads(), key = heads(), value = heads();
  TensorId scores = network.node(Operator::matmul, {query, key}, MatmulAttributes{false, true});
  scores = network.node(Operator::mul, {scores, network.constant<float>("scale", {}, {0.35F}, DType::f32)});
  scores = network.node(Operator::softmax, {scores}, DimensionAttributes{3});
  TensorId mixed = network.node(Operator::matmul, {scores, value}, MatmulAttributes{});
  mixed = network.node(Operator::transpose, {mixed}, TransposeAttributes{{0, 2, 1, 3}});
  mixed = network.node(Operator::reshape, {mixed}, ReshapeAttributes{{batch, length, kWidth}});
  x = network.node(Operator::add, {x, linear(mixed, kWidth, kWidth)});
  TensorId wide = linear(norm(x), kWidth, 3 * kWidth);
  const TensorId half = network.constant<float>("half", {}, {0.5F}, DType::f32),
                 one = network.constant<float>("one", {}, {1}, DType::f32),
                 root = network.constant<float>("root", {}, {std::sqrt(2.0F)}, DType::f32);
  const TensorId phi =
      network.node(Operator::add, {network.node(Operator::erf, {network.node(Operator::div, {wide, root})}), one});
  wide = network.node(Operator::mul, {network.node(Operator::mul, {wide, phi}), half});
  x = network.node(Operator::add, {x, linear(wide, 3 * kWidth, kWidth)});
  network.output(norm(x), "states");
  const TensorId first = network.node(Operator::slice, {network.graph.outputs[0]},
                                      SliceAttributes{{0, length - 1, 0}, {1, 1, 1}, {batch, 1, kWidth}});
  network.output(network.node(Operator::tanh, {first}), "last");
  return network.graph;
}

Graph recurrent_network(const Size& batch, const Size& length) {
  constexpr std::int64_t kIn = 5, kState = 16, kInner = 3;
  NetworkBuilder network("recurrent");
  const auto begin = [&](const Size& count, std::vector<TensorId> inputs, std::vector<LoopTensor> tensors) {
    network.node(Operator::loop, std::move(inputs), LoopAttributes{count, std::move(tensors)});
    return network.graph.nodes.back().outputs;
  };
  const auto end = [&](const Size& count, std::vector<TensorId> inputs, std::vector<LoopTensor> tensors) {
    network.node(Operator::end_loop, std::move(inputs), LoopAttributes{count, std::move(tensors)});
    return network.graph.nodes.back().outputs;
  };
  const auto sum = [&](TensorId a, TensorId b) { return network.node(Operator::add, {a, b}); };
  const TensorId x = network.input("x", {length, batch, kIn}), h0 = network.input("h0", {batch, kState});
  const TensorId outside = network.node(Operator::sin, {h0}), weights = network.weights("u", {kState, kState}, 0.2F);
  const LoopTensor forwards, backwards = {.is_backwards = true};

  const std::vector<TensorId> outer = begin(length, {h0, h0, x}, {backwards});
  const TensorId h = outer[0], before = outer[1], entry = outer[2];
  const TensorId scaled = network.node(Operator::neg, {weights});
  const TensorId joined =
      sum(network.node(Operator::matmul, {entry, network.weights("w", {kIn, kState})}, MatmulAttributes{}),
          network.node(Operator::matmul, {h, scaled}, MatmulAttributes{}));
  const std::vector<TensorId> inner = begin(kInner, {joined, network.weights("k", {kInner, kState})}, {forwards});
  const TensorId next = network.node(Operator::tanh, {sum(inner[0], inner[1])});
  const std::vector<TensorId> after = end(kInner, {next, network.node(Operator::mul, {next, h})}, {forwards});
  const TensorId total = network.node(Operator::reduce_sum, {after[1]}, ReduceAttributes{{0}});
  const TensorId state = network.node(Operator::tanh, {sum(network.node(Operator::mul, {after[0], total}), before)});
  const TensorId both = network.node(Operator::concat, {state, outside}, DimensionAttributes{1});
  const TensorId middle = network.node(Operator::slice, {both}, SliceAttributes{{0, 8}, {1, 1}, {batch, kState}});
  const std::vector<TensorId> last = end(length, {state, h, state, middle}, {forwards, backwards});

  network.output(last[0], "state");
  network.output(last[1], "before");
  network.output(network.node(Operator::reshape, {last[2]}, ReshapeAttributes{{length * batch, kState}}), "states");
  network.output(network.node(Operator::relu, {last[3]}), "middles");
  const TensorId rest = network.node(Operator::slice, {x},
                                     SliceAttributes{{1, 0, 0}, {1, 1, 1}, {length - 1, batch, kIn}}),
                 first = network.node(Operator::slice, {x}, SliceAttributes{{0, 0, 0}, {1, 1, 1}, {1, batch, kIn}});
  const std::vector<TensorId> one =
      begin(length - 1, {network.node(Operator::reshape, {first}, ReshapeAttributes{{batch, kIn}}), rest}, {forwards});
  network.output(end(length - 1, {network.node(Operator::maximum, {one[0], one[1]})}, {})[0], "greatest");
  return network.graph;
}

Graph searching_network(const Size& length) {
  constexpr std::int64_t kWidth = 6, kMost = 5;
  NetworkBuilder network("searching");
  const auto begin = [&](const Size& count, std::vector<TensorId> inputs, std::vector<LoopTensor> tensors) {
    network.node(Operator::loop, std::move(inputs), LoopAttributes{count, std::move(tensors), true});
    return network.graph.nodes.back().outputs;
  };
  const auto end = [&](const Size& count, std::vector<TensorId> inputs, std::vector<LoopTensor> tensors) {
    network.node(Operator::end_loop, std::move(inputs), LoopAttributes{count, std::move(tensors), true});
    return network.graph.nodes.back().outputs;
  };
  const auto number = [&](const std::string& name, std::int64_t value) {
    return network.constant<std::int64_t>(name, {}, {value}, DType::i64);
  };
  const auto real = [&](const std::string& name, float value) {
    return network.constant<float>(name, {}, {value}, DType::f32);
  };
  const LoopTensor forwards, backwards = {.is_backwards = true};
  const TensorId x = network.input("x", {length, kWidth}), h = network.input("h", {kWidth});
  const TensorId yes = network.constant<std::uint8_t>("yes", {}, {1}, DType::boolean), zero = number("zero", 0),
                 one = number("one", 1), scale = real("scale", 6), large = real("large", 0.9F);

  const std::vector<TensorId> outer = begin(length, {yes, h, x}, {forwards});
  const TensorId total = outer[1], row = outer[2];
  const auto element = [&](std::int64_t at) {
    const TensorId part = network.node(Operator::slice, {row}, SliceAttributes{{at}, {1}, {1}});
    return network.node(Operator::reshape, {part}, ReshapeAttributes{{}});
  };
  // Exact, so that all devices and the definition count alike.
  const TensorId wanted =
      network.node(Operator::cast, {network.node(Operator::mul, {element(1), scale})}, CastAttributes{DType::i64});
  const std::vector<TensorId> inner = begin(kMost, {network.node(Operator::less, {zero, wanted}), zero, row}, {});
  const TensorId next = network.node(Operator::tanh, {network.node(Operator::add, {inner[2], total})}),
                 count = network.node(Operator::add, {inner[1], one});
  const std::vector<TensorId> after =
      end(kMost, {network.node(Operator::less, {count, wanted}), count, next, next}, {backwards});
  const TensorId sum = network.node(Operator::reduce_sum, {after[3]}, ReduceAttributes{{0}});
  const TensorId mixed = network.node(Operator::add, {network.node(Operator::add, {total, sum}), after[2]});
  const TensorId goes_on = network.node(Operator::less, {element(2), large});
  const std::vector<TensorId> last =
      end(length, {goes_on, network.node(Operator::tanh, {mixed}), sum, after[1], after[3]},
          {forwards, backwards, forwards});

  network.output(last[1], "total");
  // No output is all 0, as the sums and parts of a single row may be.
  network.output(network.node(Operator::add, {last[2], scale}), "sums");
  network.output(network.node(Operator::cast, {network.node(Operator::add, {last[3], one})}, CastAttributes{}),
                 "counts");
  network.output(network.node(Operator::add, {last[4], scale}), "parts");
  network.output(network.node(Operator::add, {network.node(Operator::cast, {last[0]}, CastAttributes{}), scale}),
                 "end");
  return network.graph;
}

}  // namespace ferry::test
