#include "ferry/ops/winograd.h"

#include "tests/unit/host/ops/evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace ferry;
using namespace ferry::ops;
using lang::var;

namespace {

struct Case {
  std::int64_t images, channels, filters, height, width, lanes;
  std::array<std::int64_t, 4> pads;  // top, bottom, left, right

  std::int64_t blocks(std::int64_t count) const { return (count + lanes - 1) / lanes; }
  std::vector<std::int64_t> input_shape() const { return {images, blocks(channels), height, width, lanes}; }
  std::vector<std::int64_t> result_shape() const {
    return {images, blocks(filters), height + pads[0] + pads[1] - 2, width + pads[2] + pads[3] - 2, lanes};
  }
  std::vector<Window> windows() const { return {{1, pads[0], 1, pads[1]}, {1, pads[2], 1, pads[3]}}; }
};

Tensor tensor(const std::vector<std::int64_t>& shape, std::string name) {
  return input(std::vector<lang::Expr>(shape.begin(), shape.end()), std::move(name));
}

Image convolve(const Case& sizes, const Image& x, const Image& weights, std::int64_t tile) {
  const Tensor input = tensor(sizes.input_shape(), "X"), kernel = tensor(weights.shape, "K");
  return evaluate(winograd_conv2d_blocked(input, kernel, sizes.windows(), tile, "Y"), {input, kernel}, {x, weights});
}

// The convolution by its definition, in double precision; `at` is an index of the blocked result.
double expected(const Case& sizes, const Image& x, const Image& weights, const std::vector<std::int64_t>& at) {
  const std::int64_t o = at[1] * sizes.lanes + at[4];
  double sum = 0;
  for (std::int64_t c = 0; o < sizes.filters && c < sizes.channels; ++c)
    for (std::int64_t r = 0; r < 3; ++r)
      for (std::int64_t s = 0; s < 3; ++s) {
        const std::int64_t h = at[2] + r - sizes.pads[0], w = at[3] + s - sizes.pads[2];
        if (h < 0 || h >= sizes.height || w < 0 || w >= sizes.width) continue;
        sum += x({at[0], c / sizes.lanes, h, w, c % sizes.lanes}) * weights({o, c, r, s});
      }
  return sum;
}

// The bound of winograd.h for an output channel.
double bound(const Case& sizes, const Image& x, const Image& weights, std::int64_t tile, std::int64_t o) {
  double most = 0, sum = 0;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const auto lane = static_cast<std::int64_t>(i) % sizes.lanes;
    const std::int64_t block = static_cast<std::int64_t>(i) / (sizes.lanes * sizes.width * sizes.height);
    if (block % sizes.blocks(sizes.channels) * sizes.lanes + lane < sizes.channels)
      most = std::max(most, std::abs(static_cast<double>(x.values[i])));
  }
  for (std::int64_t c = 0; o < sizes.filters && c < sizes.channels; ++c)
    for (std::int64_t r = 0; r < 9; ++r) sum += std::abs(weights({o, c, r / 3, r % 3}));
  const auto channels = static_cast<double>(sizes.blocks(sizes.channels) * sizes.lanes);
  return winograd_error_factor(tile) * (channels + 33) * std::ldexp(1.0, -24) * most * sum;
}

// Visits each index of a shape.
template <class Visit>
void for_each(const std::vector<std::int64_t>& shape, Visit visit) {
  std::vector<std::int64_t> at(shape.size(), 0);
  if (std::ranges::find(shape, 0) != shape.end()) return;
  while (true) {
    visit(at);
    std::size_t d = shape.size();
    while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

// The error of a result: the root of the mean of its square.
double rms_error(const Case& sizes, const Image& got, const Image& x, const Image& weights) {
  double sum = 0;
  for_each(got.shape, [&](const std::vector<std::int64_t>& at) {
    const double error = got({at[0], at[1], at[2], at[3], at[4]}) - expected(sizes, x, weights, at);
    sum += error * error;
  });
  return std::sqrt(sum / static_cast<double>(got.values.size()));
}

using Matrix = std::vector<std::vector<double>>;

// The largest error that unit roundings cause in one dimension, for inputs and weights of at most 1.
double amplification(const Matrix& a, const Matrix& b, const Matrix& g) {
  double most = 0;
  for (const std::vector<double>& result : a)
    for (std::size_t r = 0; r < 3; ++r) {
      double sum = 0;
      for (std::size_t i = 0; i < result.size(); ++i) {
        double inputs = 0;
        for (const double factor : b[i]) inputs += std::abs(factor);
        sum += std::abs(result[i]) * inputs * std::abs(g[i][r]);
      }
      most = std::max(most, sum);
    }
  return most;
}

}  // namespace

TEST_CASE("a Winograd convolution is the convolution within its bound, whatever the sizes and the padding") {
  const Case cases[] = {{1, 1, 1, 1, 1, 4, {1, 1, 1, 1}},  {1, 4, 4, 2, 2, 4, {1, 1, 1, 1}},
                        {1, 3, 5, 3, 3, 4, {0, 0, 0, 0}},  {2, 7, 3, 5, 7, 4, {1, 1, 1, 1}},
                        {1, 5, 9, 11, 6, 8, {1, 1, 1, 1}}, {1, 17, 2, 1, 5, 16, {1, 1, 1, 1}},
                        {1, 2, 2, 6, 5, 2, {0, 2, 1, 0}},  {1, 3, 2, 1, 4, 2, {5, 3, 0, 1}},
                        {1, 2, 3, 3, 1, 1, {0, 1, 4, 2}},  {1, 8, 11, 3, 4, 8, {1, 1, 1, 1}}};
  for (const Case& sizes : cases) {
    Image x = random_image(sizes.input_shape(), 1);
    const Image weights = random_image({sizes.filters, sizes.channels, 3, 3}, 2);
    // Elements past the last channel may be anything.
    for_each(x.shape, [&](const std::vector<std::int64_t>& at) {
      if (at[1] * sizes.lanes + at[4] >= sizes.channels)
        x.values[x.place({at[0], at[1], at[2], at[3], at[4]})] = std::numeric_limits<float>::quiet_NaN();
    });
    for (const std::int64_t tile : {2, 4}) {
      INFO(sizes.channels << " channels, " << sizes.height << "x" << sizes.width << ", tile " << tile);
      const Image got = convolve(sizes, x, weights, tile);
      REQUIRE(got.shape == sizes.result_shape());
      for_each(got.shape, [&](const std::vector<std::int64_t>& at) {
        const std::int64_t o = at[1] * sizes.lanes + at[4];
        const double error = std::abs(got({at[0], at[1], at[2], at[3], at[4]}) - expected(sizes, x, weights, at));
        CHECK(error <= bound(sizes, x, weights, tile, o));
      });
    }
  }
}

TEST_CASE("a Winograd convolution in tiles of 2 is exact for small integers") {
  const Case sizes = {1, 6, 3, 5, 6, 4, {1, 1, 1, 1}};
  Image x = random_image(sizes.input_shape(), 1), weights = random_image({3, 6, 3, 3}, 2);
  for (Image* image : {&x, &weights})
    for (float& value : image->values) value = std::round(value * 16);
  const Image got = convolve(sizes, x, weights, 2);
  for_each(got.shape, [&](const std::vector<std::int64_t>& at) {
    CHECK(got({at[0], at[1], at[2], at[3], at[4]}) == expected(sizes, x, weights, at));
  });
}

TEST_CASE("the errors of Winograd convolutions are small multiples of those of direct sums") {
  const Case sizes = {1, 32, 4, 4, 4, 4, {1, 1, 1, 1}};
  const Image x = random_image(sizes.input_shape(), 1), weights = random_image({4, 32, 3, 3}, 2);
  Image direct{sizes.result_shape(), {}};
  for_each(direct.shape, [&](const std::vector<std::int64_t>& at) {
    float sum = 0;
    for (std::int64_t c = 0; c < 32; ++c)
      for (std::int64_t r = 0; r < 9; ++r) {
        const std::int64_t h = at[2] + r / 3 - 1, w = at[3] + r % 3 - 1;
        if (h < 0 || h >= 4 || w < 0 || w >= 4) continue;
        sum += static_cast<float>(x({at[0], c / 4, h, w, c % 4})) *
               static_cast<float>(weights({at[1] * 4 + at[4], c, r / 3, r % 3}));
      }
    direct.values.push_back(sum);
  });
  const double base = rms_error(sizes, direct, x, weights);
  const double two = rms_error(sizes, convolve(sizes, x, weights, 2), x, weights) / base;
  const double four = rms_error(sizes, convolve(sizes, x, weights, 4), x, weights) / base;
  CAPTURE(two);
  CAPTURE(four);
  CHECK(two < 2);
  CHECK(four > two);
  CHECK(four < 5);
}

TEST_CASE("the factor in the bound of the error follows from the transforms") {
  const Matrix a2 = {{1, 1, 1, 0}, {0, 1, -1, 1}}, b2 = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}},
               g2 = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  CHECK(winograd_error_factor(2) == std::pow(amplification(a2, b2, g2), 2));
  Matrix a4(4), b4 = {{1, -1.5, -2, 1.5, 1, 0}, {0, -1, 0.5, 2.5, 1, 0},  {0, 1, -2.5, 0.5, 1, 0},
                      {0, -2, -1, 2, 1, 0},     {0, 0.5, -1, -0.5, 1, 0}, {0, 1, -1.5, -2, 1.5, 1}},
                g4;
  const double points[] = {0, 1, -1, 0.5, -2};
  for (const double p : points) {
    double n = 1;
    for (const double other : points) n *= p == other ? 1 : p - other;
    g4.push_back({1 / n, p / n, p * p / n});
    for (int k = 0; k < 4; ++k) a4[static_cast<std::size_t>(k)].push_back(std::pow(p, k));
  }
  g4.push_back({0, 0, 1});
  for (int k = 0; k < 4; ++k) a4[static_cast<std::size_t>(k)].push_back(k == 3 ? 1 : 0);
  const double four = std::pow(amplification(a4, b4, g4), 2);
  CHECK(winograd_error_factor(4) >= four);
  CHECK(winograd_error_factor(4) < four + 1);
}

TEST_CASE("a Winograd convolution refuses what it cannot compute") {
  const Tensor x = input({1, 2, 7, 5, 4}, "X"), k = input({6, 8, 3, 3}, "K");
  const std::vector<Window> windows = {{1, 1}, {1, 1}};
  const auto refused = [&](const Tensor& image, const Tensor& kernel, const std::vector<Window>& moved,
                           std::int64_t tile) {
    return refusal([&] { winograd_conv2d_blocked(image, kernel, moved, tile, "Y"); });
  };
  CHECK(refused(x, k, windows, 2) == "nothing was refused");
  CHECK(refused(x, k, windows, 3) == "'Y': expected tiles of 2 or 4, got 3");
  CHECK(refused(x, k, {{2, 1}, {1, 1}}, 2) == "'Y': expected strides and dilations of 1");
  CHECK(refused(x, k, {{1, 1}, {1, 1, 2}}, 2) == "'Y': expected strides and dilations of 1");
  CHECK(refused(x, k, {{1, 1}}, 2) == "'Y': expected the windows of 2 dimensions, got 1");
  CHECK(refused(x, input({6, 8, 3, 5}, "K"), windows, 2) == "'Y': expected 3x3 weights, got [6, 8, 3, 5]");
  CHECK(refused(x, input({6, 9, 3, 3}, "K"), windows, 2) ==
        "'Y': expected the blocks of channels of 'X' and 'K' to be the same, got 2 and 3");
  CHECK(refused(input({1, 2, 7, 5}, "X"), k, windows, 2) == "'Y': expected 'X' to have 5 dimensions, got [1, 2, 7, 5]");
  CHECK(refused(input({1, 2, 7, 5, var("c")}, "X"), k, windows, 2) ==
        "'Y': expected blocks of a constant number of channels, got [1, 2, 7, 5, c]");
  CHECK(refused(lang::placeholder({1, 2, 7, 5, 4}, DType::i32, "X"), k, windows, 2) ==
        "'Y': expected 'X' and 'K' to be floats of one type, got i32 and f32");
}
