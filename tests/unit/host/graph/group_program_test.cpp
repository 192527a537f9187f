// The results of each operator's program, compared with loops in double precision.
#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"
#include "host/graph/passes/choose_layouts.h"
#include "host/graph/passes/make_groups.h"
#include "host/graph/reference/definition.h"
#include "tests/unit/host/graph/node_values.h"

#include <algorithm>
#include <limits>

using namespace ferry;
using namespace ferry::graph;
using namespace ferry::test;

TEST_CASE("the program of a convolution pads, moves, divides into groups and adds its bias") {
  const Values x = random_values({2, 4, 7, 6}, 1), bias = random_values({6}, 3);
  for (const std::int64_t groups : {1, 2}) {
    const Values w = random_values({6, 4 / groups, 3, 2}, 2);
    const ConvAttributes conv = {{{3, 2, 1, 1, 0}, {2, 1, 2, 0, 1}}, groups};
    const auto sum = [&](const Index& i) {
      double total = 0;
      for (std::int64_t c = 0; c < 4 / groups; ++c)
        for (std::int64_t p = 0; p < 3; ++p)
          for (std::int64_t q = 0; q < 2; ++q)
            total +=
                w({i[1], c, p, q}) * x({i[0], i[1] / (6 / groups) * (4 / groups) + c, i[2] * 2 + p - 1, i[3] + q * 2});
      return total;
    };
    check(run(Operator::conv, conv, {x, w}), {2, 6, 3, 5}, sum);
    check(run(Operator::conv, conv, {x, w, bias}), {2, 6, 3, 5}, [&](const Index& i) { return sum(i) + bias({i[1]}); });
  }
}

TEST_CASE("the program of a depthwise convolution gives each channel its own filter") {
  const Values x = random_values({1, 5, 6, 6}, 1), w = random_values({5, 1, 3, 3}, 2);
  check(run(Operator::conv, ConvAttributes{{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 5}, {x, w}), {1, 5, 6, 6},
        [&](const Index& i) {
          double total = 0;
          for (std::int64_t p = 0; p < 3; ++p)
            for (std::int64_t q = 0; q < 3; ++q) total += w({i[1], 0, p, q}) * x({0, i[1], i[2] + p - 1, i[3] + q - 1});
          return total;
        });
}

TEST_CASE("the programs of pools") {
  const Values x = random_values({1, 2, 7}, 1);
  const PoolAttributes pool = {{{3, 2, 1, 1, 1}}, false, false};
  check(run(Operator::max_pool, pool, {x}), {1, 2, 4}, [&](const Index& i) {
    double most = -std::numeric_limits<double>::infinity();
    for (std::int64_t at = std::max<std::int64_t>(0, 2 * i[2] - 1); at < std::min<std::int64_t>(7, 2 * i[2] + 2); ++at)
      most = std::max(most, x({0, i[1], at}));
    return most;
  });
  check(run(Operator::average_pool, pool, {x}), {1, 2, 4}, [&](const Index& i) {
    double total = 0;
    for (std::int64_t at = 2 * i[2] - 1; at < 2 * i[2] + 2; ++at) total += x({0, i[1], at});
    return total / (i[2] == 0 || i[2] == 3 ? 2 : 3);
  });
}

TEST_CASE("the program of a product with one matrix takes batches of rows as rows") {
  const Values a = random_values({2, 3, 4}, 1), b = random_values({5, 4}, 2);
  const auto expected = [&](const Index& i) {
    double total = 0;
    for (std::int64_t k = 0; k < 4; ++k) total += a({i[0], i[1], k}) * b({i[2], k});
    return total;
  };
  check(run(Operator::matmul, MatmulAttributes{false, true}, {a, b}), {2, 3, 5}, expected);
  const Size n = Size::symbol("N");
  check(run(Operator::matmul, MatmulAttributes{false, true}, {{n, 3, 4}, {5, 4}}, {a, b}, {{"N", 2}}), {2, 3, 5},
        expected);
}

TEST_CASE("the programs of reductions") {
  const Values x = random_values({2, 3, 4}, 1);
  const auto total = [&](std::int64_t j) {
    double sum = 0;
    for (std::int64_t i = 0; i < 2; ++i)
      for (std::int64_t k = 0; k < 4; ++k) sum += x({i, j, k});
    return sum;
  };
  check(run(Operator::reduce_sum, ReduceAttributes{{0, 2}, false}, {x}), {3},
        [&](const Index& i) { return total(i[0]); });
  check(run(Operator::reduce_mean, ReduceAttributes{{0, 2}, true}, {x}), {1, 3, 1},
        [&](const Index& i) { return total(i[1]) / 8; });
  check(run(Operator::reduce_mean, ReduceAttributes{{}, false}, {x}), {2, 3, 4}, [&](const Index& i) { return x(i); });
  const auto folded = [&](const Index& i, const std::function<double(double, double)>& combine) {
    double value = x({i[0], i[1], 0});
    for (std::int64_t k = 1; k < 4; ++k) value = combine(value, x({i[0], i[1], k}));
    return value;
  };
  check(run(Operator::reduce_max, ReduceAttributes{{2}, false}, {x}), {2, 3},
        [&](const Index& i) { return folded(i, [](double a, double b) { return std::max(a, b); }); });
  check(run(Operator::reduce_min, ReduceAttributes{{2}, false}, {x}), {2, 3},
        [&](const Index& i) { return folded(i, [](double a, double b) { return std::min(a, b); }); });
  check(run(Operator::reduce_prod, ReduceAttributes{{2}, false}, {x}), {2, 3},
        [&](const Index& i) { return folded(i, [](double a, double b) { return a * b; }); });
}

TEST_CASE("the programs of normalisations") {
  const Values x = random_values({2, 3, 4}, 1), scale = random_values({3}, 2), bias = random_values({3}, 3),
               mean = random_values({3}, 4), variance = random_values({3}, 5, 0.5, 1);
  check(run(Operator::batch_norm, BatchNormAttributes{0.01}, {x, scale, bias, mean, variance}), {2, 3, 4},
        [&](const Index& i) {
          const Index c{i[1]};
          return (x(i) - mean(c)) / std::sqrt(variance(c) + 0.01) * scale(c) + bias(c);
        });
  const Values gamma = random_values({3, 4}, 6), beta = random_values({3, 4}, 7);
  check(run(Operator::layer_norm, LayerNormAttributes{1, 0.01}, {x, gamma, beta}), {2, 3, 4}, [&](const Index& i) {
    double sum = 0, squares = 0;
    for (std::int64_t j = 0; j < 12; ++j) sum += x({i[0], j / 4, j % 4});
    for (std::int64_t j = 0; j < 12; ++j) squares += std::pow(x({i[0], j / 4, j % 4}) - sum / 12, 2);
    return (x(i) - sum / 12) / std::sqrt(squares / 12 + 0.01) * gamma({i[1], i[2]}) + beta({i[1], i[2]});
  });
  check(run(Operator::softmax, DimensionAttributes{1}, {x}), {2, 3, 4}, [&](const Index& i) {
    double sum = 0;
    for (std::int64_t j = 0; j < 3; ++j) sum += std::exp(x({i[0], j, i[2]}));
    return std::exp(x(i)) / sum;
  });
}

TEST_CASE("the programs of elementwise functions") {
  const Values x = random_values({3, 5}, 1, 4);
  const auto each = [&](Operator op, const std::function<double(double)>& function, const Values& input) {
    CAPTURE(operator_name(op));
    check(run(op, NoAttributes{}, {input}), input.shape, [&](const Index& i) { return function(input(i)); });
  };
  each(Operator::relu, [](double v) { return std::max(v, 0.0); }, x);
  each(Operator::abs, [](double v) { return std::abs(v); }, x);
  each(Operator::neg, [](double v) { return -v; }, x);
  each(Operator::exp, [](double v) { return std::exp(v); }, x);
  each(Operator::erf, [](double v) { return std::erf(v); }, x);
  each(Operator::tanh, [](double v) { return std::tanh(v); }, x);
  each(Operator::sigmoid, [](double v) { return 1 / (1 + std::exp(-v)); }, x);
  each(Operator::sin, [](double v) { return std::sin(v); }, x);
  each(Operator::cos, [](double v) { return std::cos(v); }, x);
  each(Operator::tan, [](double v) { return std::tan(v); }, x);
  each(Operator::atan, [](double v) { return std::atan(v); }, x);
  each(Operator::sinh, [](double v) { return std::sinh(v); }, x);
  each(Operator::cosh, [](double v) { return std::cosh(v); }, x);
  each(Operator::expm1, [](double v) { return std::expm1(v); }, x);
  each(Operator::floor, [](double v) { return std::floor(v); }, x);
  each(Operator::ceil, [](double v) { return std::ceil(v); }, x);
  const Values positive = random_values({7}, 2, 1, 2);
  each(Operator::log, [](double v) { return std::log(v); }, positive);
  each(Operator::sqrt, [](double v) { return std::sqrt(v); }, positive);
  each(Operator::log1p, [](double v) { return std::log1p(v); }, positive);
  const Values below_one = random_values({6}, 3);
  each(Operator::asin, [](double v) { return std::asin(v); }, below_one);
  each(Operator::acos, [](double v) { return std::acos(v); }, below_one);
  const Values halves{{9}, DType::f32, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 2.25, -7.75}};
  each(Operator::round, [](double v) { return std::nearbyint(v); }, halves);
  each(Operator::logical_not, [](double v) { return v == 0 ? 1 : 0; }, integers({2}, {0, 1}, DType::boolean));
  each(Operator::bit_not, [](double v) { return -v - 1; }, integers({3}, {0, 5, -7}));
}

TEST_CASE("the programs of elementwise functions of two inputs broadcast") {
  const Values x = random_values({2, 3, 4}, 1, 3), y = random_values({3, 1}, 2, 1, 2);
  const auto each = [&](Operator op, const std::function<double(double, double)>& function) {
    CAPTURE(operator_name(op));
    check(run(op, NoAttributes{}, {x, y}), {2, 3, 4}, [&](const Index& i) { return function(x(i), y({i[1], 0})); });
  };
  each(Operator::add, [](double a, double b) { return a + b; });
  each(Operator::sub, [](double a, double b) { return a - b; });
  each(Operator::mul, [](double a, double b) { return a * b; });
  each(Operator::div, [](double a, double b) { return a / b; });
  each(Operator::minimum, [](double a, double b) { return std::min(a, b); });
  each(Operator::maximum, [](double a, double b) { return std::max(a, b); });
  each(Operator::less, [](double a, double b) { return a < b ? 1 : 0; });
  each(Operator::less_equal, [](double a, double b) { return a <= b ? 1 : 0; });
  each(Operator::equal, [](double a, double b) { return a == b ? 1 : 0; });
  const Values base = random_values({4}, 3, 1, 2), power = random_values({4}, 4);
  check(run(Operator::pow, NoAttributes{}, {base, power}), {4},
        [&](const Index& i) { return std::pow(base(i), power(i)); });
  const Values a = integers({6}, {7, -7, 7, -7, 6, -6}), b = integers({6}, {2, 2, -2, -2, 3, 3});
  check(run(Operator::div, NoAttributes{}, {a, b}), {6}, [&](const Index& i) { return std::trunc(a(i) / b(i)); });
  check(run(Operator::remainder, NoAttributes{}, {a, b}), {6}, [&](const Index& i) { return std::fmod(a(i), b(i)); });
  check(run(Operator::modulo, NoAttributes{}, {a, b}), {6},
        [&](const Index& i) { return a(i) - std::floor(a(i) / b(i)) * b(i); });
  check(run(Operator::remainder, NoAttributes{}, {x, y}), {2, 3, 4},
        [&](const Index& i) { return std::fmod(x(i), y({i[1], 0})); });
  const Values bits = integers({4}, {12, -12, 7, 255}, DType::i32), shifts = integers({4}, {1, 2, 31, 3}, DType::i32);
  const auto of_bits = [&](Operator op, const std::function<std::int32_t(std::int32_t, std::int32_t)>& function) {
    CAPTURE(operator_name(op));
    check(run(op, NoAttributes{}, {bits, shifts}), {4}, [&](const Index& i) {
      return function(static_cast<std::int32_t>(bits(i)), static_cast<std::int32_t>(shifts(i)));
    });
  };
  of_bits(Operator::bit_and, [](std::int32_t one, std::int32_t other) { return one & other; });
  of_bits(Operator::bit_or, [](std::int32_t one, std::int32_t other) { return one | other; });
  of_bits(Operator::bit_xor, [](std::int32_t one, std::int32_t other) { return one ^ other; });
  of_bits(Operator::shift_left, [](std::int32_t one, std::int32_t other) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(one) << other);
  });
  of_bits(Operator::shift_right, [](std::int32_t one, std::int32_t other) { return one >> other; });
  const Values p = integers({4}, {0, 0, 1, 1}, DType::boolean), q = integers({4}, {0, 1, 0, 1}, DType::boolean);
  check(run(Operator::logical_and, NoAttributes{}, {p, q}), {4}, [&](const Index& i) { return p(i) * q(i); });
  check(run(Operator::logical_or, NoAttributes{}, {p, q}), {4}, [&](const Index& i) { return std::max(p(i), q(i)); });
  check(run(Operator::where, NoAttributes{}, {integers({4}, {0, 1, 1, 0}, DType::boolean), x, y}), {2, 3, 4},
        [&](const Index& i) { return i[2] == 1 || i[2] == 2 ? x(i) : y({i[1], 0}); });
}

TEST_CASE("the programs of operators that move elements") {
  const Values x = random_values({2, 3, 4}, 1), y = random_values({2, 2, 4}, 2);
  check(run(Operator::transpose, TransposeAttributes{{2, 0, 1}}, {x}), {4, 2, 3},
        [&](const Index& i) { return x({i[1], i[2], i[0]}); });
  check(run(Operator::broadcast, BroadcastAttributes{{5, 2, 3}}, {random_values({2, 1}, 3)}), {5, 2, 3},
        [&](const Index& i) { return random_values({2, 1}, 3)({i[1], 0}); });
  check(run(Operator::slice, SliceAttributes{{1, 2, 0}, {1, -2, 3}, {1, 2, 2}}, {x}), {1, 2, 2},
        [&](const Index& i) { return x({1, 2 - 2 * i[1], 3 * i[2]}); });
  check(run(Operator::pad, PadAttributes{{0, 1, 0}, {0, 0, 2}, 7}, {x}), {2, 4, 6},
        [&](const Index& i) { return i[1] == 0 || i[2] > 3 ? 7 : x({i[0], i[1] - 1, i[2]}); });
  check(run(Operator::concat, DimensionAttributes{1}, {x, y}), {2, 5, 4},
        [&](const Index& i) { return i[1] < 3 ? x(i) : y({i[0], i[1] - 3, i[2]}); });
  const Values indices = integers({2, 2}, {2, 0, -1, -3});
  check(run(Operator::gather, DimensionAttributes{1}, {x, indices}), {2, 2, 2, 4}, [&](const Index& i) {
    const double index = indices({i[1], i[2]});
    return x({i[0], static_cast<std::int64_t>(index < 0 ? index + 3 : index), i[3]});
  });
  check(run(Operator::cast, CastAttributes{DType::i32}, {random_values({5}, 3, 9)}), {5},
        [&](const Index& i) { return std::trunc(random_values({5}, 3, 9)(i)); });
}

TEST_CASE("sizes in attributes that no input has become scalars of the program") {
  const Size n = Size::symbol("N");
  const Values x = random_values({6, 3}, 1);
  const SliceAttributes tail = {{floor_divide(n, 2), 0}, {1, 1}, {n - floor_divide(n, 2), 3}};
  check(run(Operator::slice, tail, {{n, 3}}, {x}, {{"N", 6}}), {3, 3},
        [&](const Index& i) { return x({i[0] + 3, i[1]}); });
}

TEST_CASE("nodes that differ in names, weights and names of sizes have one kernel") {
  NetworkBuilder network;
  const Size n = Size::symbol("N"), m = Size::symbol("M");
  const TensorId x = network.input("x", {n, 4, 8, 8}), y = network.input("y", {m, 4, 8, 8});
  const ConvAttributes conv = {{{3, 1, 1, 1, 1}, {3, 1, 1, 1, 1}}, 1};
  network.node(Operator::conv, {x, network.weights("a", {4, 4, 3, 3})}, conv, "first");
  network.node(Operator::conv, {y, network.weights("b", {4, 4, 3, 3})}, conv, "second");
  network.node(Operator::conv, {y, network.weights("c", {5, 4, 3, 3})}, conv, "third");
  const GroupKernel first = kernel_of(network.graph, {{0}}), second = kernel_of(network.graph, {{1}}),
                    third = kernel_of(network.graph, {{2}});
  CHECK(first.key == second.key);
  CHECK(first.key != third.key);
  REQUIRE(second.sizes.size() == 1);
  CHECK(to_text(second.sizes[0]) == "M");
}

namespace {

// The shapes of a group's inputs as its program sees them.
std::vector<std::string> input_shapes(const Graph& graph, const Group& group) {
  std::vector<std::string> shapes;
  for (const KernelInput& input : kernel_of(graph, group).key.inputs) shapes.push_back(to_text(input.shape));
  return shapes;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("dimensions that a group does not tell apart are fused") {
  NetworkBuilder network;
  const Size n = Size::symbol("N");
  const TensorId image = network.input("image", {n, 4, 8, 8}), rows = network.input("rows", {n, 5, 6});
  const auto shapes_of_last = [&] { return input_shapes(network.graph, {{network.graph.nodes.size() - 1}}); };
  network.node(Operator::add, {image, network.weights("channel", {4, 1, 1})});
  CHECK(shapes_of_last() == Texts{"[n0,4,64]", "[4,1]"});
  network.node(Operator::maximum, {image, network.weights("scalar", {})});
  CHECK(shapes_of_last() == Texts{"[n0]", "[1]"});
  network.node(Operator::add, {image, network.weights("row", {8})});
  CHECK(shapes_of_last() == Texts{"[n0,8]", "[8]"});
  network.node(Operator::mul, {image, image});
  CHECK(shapes_of_last() == Texts{"[n0]"});
  const TensorId c = network.weights("c", {4});
  network.node(Operator::batch_norm, {image, c, c, c, c}, BatchNormAttributes{});
  CHECK(shapes_of_last() == Texts{"[n0,4,64]", "[4,1]"});
  const TensorId product = network.node(Operator::matmul, {rows, network.weights("w", {6, 7})}, MatmulAttributes{});
  CHECK(shapes_of_last() == Texts{"[n0,6]", "[6,7]"});
  network.node(Operator::add, {product, network.weights("b", {7})});
  const std::size_t last = network.graph.nodes.size() - 1;
  CHECK(input_shapes(network.graph, {{last - 1, last}}) == Texts{"[n0,6]", "[6,7]", "[7]"});
}

TEST_CASE("a result replaces an input of which each element is read for its own element alone") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {1, 1, 6}), y = network.input("y", {1, 1, 6});
  const TensorId product = network.node(Operator::matmul, {x, network.weights("w", {6, 6})}, MatmulAttributes{});
  network.node(Operator::add, {product, x});
  network.node(Operator::add, {product, y});
  // The product reads all of x for each element, in another shape than the sum.
  CHECK(input_shapes(network.graph, {{0, 1}}) == Texts{"[1,6]", "[6,6]", "[6]"});
  CHECK(kernel_of(network.graph, {{0, 1}}).updatable.empty());
  CHECK(kernel_of(network.graph, {{0, 2}}).updatable == std::vector<std::size_t>{2});
}

TEST_CASE("a convolution in blocks that needs no neighbours reads all rows of an image as one") {
  NetworkBuilder network;
  const WindowAttributes wide = {3, 1, 1, 1, 1}, point = {1, 1, 1, 0, 0}, strided = {1, 2, 1, 0, 0};
  TensorId x = network.input("x", {1, 64, 14, 14});
  const auto conv = [&](TensorId from, const WindowAttributes& window, const char* name) {
    const std::int64_t size = window.kernel;
    return network.node(Operator::conv, {from, network.weights("w", {64, 64, size, size}), network.weights("b", {64})},
                        ConvAttributes{{window, window}, 1}, name);
  };
  x = conv(x, wide, "first");
  x = network.node(Operator::add, {conv(x, point, "residual"), x});
  const TensorId means = network.node(Operator::reduce_mean, {x}, ReduceAttributes{{2, 3}, true}, "means");
  x = network.node(Operator::mul, {conv(x, point, "scaled"), network.node(Operator::sigmoid, {means}, {}, "gate")});
  x = network.node(Operator::mul, {conv(x, point, "masked"), network.weights("mask", {14, 1})});
  network.output(conv(x, strided, "strided"), "y");
  const Graph graph = choose_layouts(network.graph, 8);
  const auto shapes_of = [&](const std::string& name) {
    for (const Group& group : make_groups(graph))
      if (graph.nodes[group.nodes.front()].name == name) return input_shapes(graph, group);
    return Texts{};
  };
  CHECK(shapes_of("first") == Texts{"[1,8,14,14,8]", "[64,64,3,3]", "[1,64,1,1]"});
  CHECK(shapes_of("residual") == Texts{"[1,8,1,196,8]", "[64,64,1,1]", "[1,64,1,1]"});
  CHECK(shapes_of("scaled") == Texts{"[1,8,1,196,8]", "[64,64,1,1]", "[1,64,1,1]", "[1,8,1,1,8]"});
  CHECK(shapes_of("masked") == Texts{"[1,8,14,14,8]", "[64,64,1,1]", "[1,64,1,1]", "[1,1,14,1]"});
  CHECK(shapes_of("strided") == Texts{"[1,8,14,14,8]", "[64,64,1,1]", "[1,64,1,1]"});
}

TEST_CASE("a kernel is held against a definition whose dimensions are not fused, nor are those of a window after it") {
  NetworkBuilder network;
  const WindowAttributes point, window = {3, 1, 1, 1, 1};
  const TensorId x = network.input("x", {1, 16, 6, 6});
  const TensorId image = network.node(Operator::conv, {x, network.weights("w", {16, 16, 1, 1})},
                                      ConvAttributes{{point, point}, 1}, "image");
  network.output(network.node(Operator::conv, {image, network.weights("d", {16, 1, 3, 3})},
                              ConvAttributes{{window, window}, 16}, "window"),
                 "y");
  Graph graph = network.graph;
  for (Tensor& tensor : graph.tensors)
    if (tensor.constant == nullptr) tensor.channel_block = 8;
  const auto group_of = [&](const char* name) {
    const std::vector<Group> groups = make_groups(graph);
    return *std::ranges::find(groups, name, [&](const Group& group) { return graph.nodes[group.nodes.back()].name; });
  };
  CHECK(input_shapes(graph, group_of("image")).front() == "[1,2,1,36,8]");
  const lang::Program definition = definition_of(graph, group_of("image"), {}).program;
  const std::int64_t* rows = ir::as_int(definition.parameters.front().tensor.shape()[2]);
  REQUIRE(rows != nullptr);
  CHECK(*rows == 6);
  for (Node& node : graph.nodes)
    if (node.name == "window") std::get<ConvAttributes>(node.attributes).fuses_input = true;
  CHECK(group_of("window").nodes.size() == 2);
  CHECK(input_shapes(graph, group_of("window")).front() == "[1,2,6,6,8]");
}

TEST_CASE("a program has the type of result that the plan stores") {
  NetworkBuilder network;
  const TensorId x = network.input("x", {4}, DType::i32);
  network.node(Operator::neg, {x});
  KernelKey key = kernel_of(network.graph, {{0}}).key;
  CHECK(group_program(key, "kernel").parameters.back().tensor.dtype() == DType::i32);
  key.result = DType::i64;
  CHECK_THROWS_WITH_AS(group_program(key, "kernel"), "group_program: expected a result of i64, got i32 from neg",
                       InternalError);
}
