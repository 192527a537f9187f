#include "ferry/ops/convolution.h"
#include "ferry/ops/pooling.h"

#include "tests/unit/host/ops/evaluate.h"

#include <algorithm>

using namespace ferry;
using namespace ferry::ops;
using lang::var;

namespace {

struct Case {
  std::int64_t stride, padding, dilation;
};
constexpr Case kCases[] = {{1, 0, 1}, {1, 1, 1}, {2, 1, 1}, {3, 2, 1}, {1, 2, 2}, {2, 3, 3}};

std::int64_t out_size(std::int64_t size, std::int64_t kernel, const Case& c) {
  return (size + 2 * c.padding - c.dilation * (kernel - 1) - 1) / c.stride + 1;
}

// Returns the image's value, or `outside` beyond its borders.
double seen(const Image& image, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w, double outside) {
  const bool inside = h >= 0 && h < image.shape[2] && w >= 0 && w < image.shape[3];
  return inside ? image({n, c, h, w}) : outside;
}

}  // namespace

TEST_CASE("conv2d with padding, strides and dilation") {
  const Tensor x = input({var("N"), var("C"), var("H"), var("W")}, "X");
  const Tensor k = input({var("O"), x.shape()[1], var("KH"), var("KW")}, "K");
  const Image image = random_image({2, 3, 11, 9}, 1), kernel = random_image({4, 3, 3, 2}, 2);
  for (const Case& c : kCases) {
    CAPTURE(c.stride);
    CAPTURE(c.padding);
    CAPTURE(c.dilation);
    const Tensor y = conv2d(x, k, convolution(c.stride, c.padding, c.dilation), "Y");
    check_elements(evaluate(y, {x, k}, {image, kernel}), {2, 4, out_size(11, 3, c), out_size(9, 2, c)}, [&](auto& i) {
      double total = 0;
      for (std::int64_t ch = 0; ch < 3; ++ch) {
        for (std::int64_t p = 0; p < 3; ++p) {
          for (std::int64_t q = 0; q < 2; ++q) {
            total += kernel({i[1], ch, p, q}) * seen(image, i[0], ch, i[2] * c.stride + p * c.dilation - c.padding,
                                                     i[3] * c.stride + q * c.dilation - c.padding, 0);
          }
        }
      }
      return total;
    });
  }
}

TEST_CASE("a grouped conv2d sees only its group's channels") {
  const Tensor x = input({1, 6, 7, 5}, "X"), k = input({4, 3, 3, 3}, "K");
  const Image image = random_image({1, 6, 7, 5}, 1), kernel = random_image({4, 3, 3, 3}, 2);
  const Tensor y = conv2d(x, k, convolution(1, 1, 1, 2), "Y");
  check_elements(evaluate(y, {x, k}, {image, kernel}), {1, 4, 7, 5}, [&](auto& i) {
    double total = 0;
    for (std::int64_t ch = 0; ch < 3; ++ch) {
      for (std::int64_t p = 0; p < 9; ++p) {
        total +=
            kernel({i[1], ch, p / 3, p % 3}) * seen(image, 0, i[1] / 2 * 3 + ch, i[2] + p / 3 - 1, i[3] + p % 3 - 1, 0);
      }
    }
    return total;
  });
  CHECK(refusal([&] { conv2d(x, k, convolution(1, 0), "Y"); }) ==
        "'Y': expected the channels that 'X' and 'K' have in a group to be the same, got 6 and 3");
  CHECK(refusal([&] { conv2d(x, k, convolution(1, 0, 1, 4), "Y"); }) ==
        "'Y': expected channels and filters in 4 equal groups, got [1, 6, 7, 5] and [4, 3, 3, 3]");
}

TEST_CASE("depthwise conv2d gives each channel filters of its own") {
  const Tensor x = input({var("N"), var("C"), var("H"), var("W")}, "X");
  for (const std::int64_t multiplier : {1, 2}) {
    const Tensor k = input({x.shape()[1], Expr(multiplier), var("KH"), var("KW")}, "K");
    const Image image = random_image({2, 3, 9, 7}, 1), kernel = random_image({3, multiplier, 3, 3}, 2);
    for (const Case& c : kCases) {
      CAPTURE(c.stride);
      CAPTURE(c.padding);
      CAPTURE(c.dilation);
      const Tensor y = depthwise_conv2d(x, k, convolution(c.stride, c.padding, c.dilation), "Y");
      check_elements(evaluate(y, {x, k}, {image, kernel}), {2, 3 * multiplier, out_size(9, 3, c), out_size(7, 3, c)},
                     [&](auto& i) {
                       double total = 0;
                       for (std::int64_t p = 0; p < 9; ++p) {
                         total += kernel({i[1] / multiplier, i[1] % multiplier, p / 3, p % 3}) *
                                  seen(image, i[0], i[1] / multiplier, i[2] * c.stride + p / 3 * c.dilation - c.padding,
                                       i[3] * c.stride + p % 3 * c.dilation - c.padding, 0);
                       }
                       return total;
                     });
    }
  }
}

TEST_CASE("conv1d with padding, strides, dilation and groups") {
  const Tensor x = input({var("N"), 4, var("W")}, "X");
  const Image image = random_image({2, 4, 13}, 1);
  for (const std::int64_t groups : {1, 2}) {
    const std::int64_t inputs = 4 / groups, outputs = 6 / groups;
    const Tensor k = input({6, Expr(inputs), var("KW")}, "K");
    const Image kernel = random_image({6, inputs, 3}, 2);
    for (const Case& c : kCases) {
      CAPTURE(c.stride);
      CAPTURE(c.padding);
      CAPTURE(c.dilation);
      const Tensor y = conv1d(x, k, {c.stride, c.padding, c.dilation}, "Y", groups);
      check_elements(evaluate(y, {x, k}, {image, kernel}), {2, 6, out_size(13, 3, c)}, [&](auto& i) {
        double total = 0;
        for (std::int64_t r = 0; r < inputs * 3; ++r) {
          const std::int64_t w = i[2] * c.stride + r % 3 * c.dilation - c.padding;
          if (w < 0 || w >= 13) continue;
          total += image({i[0], i[1] / outputs * inputs + r / 3, w}) * kernel({i[1], r / 3, r % 3});
        }
        return total;
      });
    }
  }
  CHECK(refusal([&] { conv1d(x, input({6, 3, 3}, "K"), {}, "Y"); }) ==
        "'Y': expected the channels that 'X' and 'K' have in a group to be the same, got 4 and 3");
  CHECK(refusal([&] { conv1d(x, input({6, 4, 3}, "K"), {}, "Y", 0); }) == "'Y': expected at least 1 group, got 0");
}

TEST_CASE("a depthwise separable conv2d is a depthwise one and then one of 1x1") {
  const Tensor x = input({1, 3, 7, 6}, "X"), d = input({3, 2, 3, 3}, "D"), p = input({4, 6, 1, 1}, "P");
  const Image image = random_image({1, 3, 7, 6}, 1), each = random_image({3, 2, 3, 3}, 2),
              mix = random_image({4, 6, 1, 1}, 3);
  const Image got =
      evaluate(depthwise_separable_conv2d(x, d, p, convolution(2, 1), "Y"), {x, d, p}, {image, each, mix});
  check_elements(got, {1, 4, 4, 3}, [&](auto& i) {
    double total = 0;
    for (std::int64_t c = 0; c < 6; ++c) {
      for (std::int64_t r = 0; r < 9; ++r) {
        total += seen(image, 0, c / 2, i[2] * 2 + r / 3 - 1, i[3] * 2 + r % 3 - 1, 0) *
                 each({c / 2, c % 2, r / 3, r % 3}) * mix({i[1], c, 0, 0});
      }
    }
    return total;
  });
  CHECK(refusal([&] { depthwise_separable_conv2d(x, d, input({4, 3, 1, 1}, "P"), convolution(1, 1), "Y"); }) ==
        "'Y': expected the channels that 'Y.depthwise' and 'P' have in a group to be the same, got 6 and 3");
}

TEST_CASE("max and average pooling with padding") {
  const Tensor x = input({var("N"), var("C"), var("H"), var("W")}, "X");
  const Image image = random_image({2, 3, 11, 8}, 1);
  for (const Case& c : {Case{1, 0, 1}, Case{2, 1, 1}, Case{3, 1, 1}}) {
    CAPTURE(c.stride);
    const std::vector<std::int64_t> shape{2, 3, out_size(11, 3, c), out_size(8, 3, c)};
    const auto window = [&](const std::vector<std::int64_t>& i, double outside,
                            const std::function<void(double, bool)>& see) {
      for (std::int64_t p = 0; p < 9; ++p) {
        const std::int64_t h = i[2] * c.stride + p / 3 - c.padding, w = i[3] * c.stride + p % 3 - c.padding;
        see(seen(image, i[0], i[1], h, w, outside), h >= 0 && h < 11 && w >= 0 && w < 8);
      }
    };
    check_elements(evaluate(max_pool2d(x, pooling(3, c.stride, c.padding), "Y"), {x}, {image}), shape, [&](auto& i) {
      double most = -1e30;
      window(i, -1e30, [&](double value, bool) { most = std::max(most, value); });
      return most;
    });
    for (const bool count_padding : {false, true}) {
      check_elements(evaluate(avg_pool2d(x, pooling(3, c.stride, c.padding, count_padding), "Y"), {x}, {image}), shape,
                     [&](auto& i) {
                       double total = 0, count = 0;
                       window(i, 0, [&](double value, bool inside) {
                         total += value;
                         count += inside || count_padding ? 1 : 0;
                       });
                       return total / count;
                     });
    }
  }
}

TEST_CASE("global pooling leaves one value a channel") {
  const Tensor x = input({var("N"), var("C"), var("H"), var("W")}, "X");
  const Image image = random_image({2, 3, 5, 7}, 1);
  const auto fold = [&](std::int64_t n, std::int64_t c, double start,
                        const std::function<double(double, double)>& combine) {
    for (std::int64_t p = 0; p < 35; ++p) start = combine(start, image({n, c, p / 7, p % 7}));
    return start;
  };
  check_elements(evaluate(global_max_pool2d(x, "Y"), {x}, {image}), {2, 3},
                 [&](auto& i) { return fold(i[0], i[1], -9, [](double a, double b) { return std::max(a, b); }); });
  check_elements(evaluate(global_avg_pool2d(x, "Y"), {x}, {image}), {2, 3},
                 [&](auto& i) { return fold(i[0], i[1], 0, [](double a, double b) { return a + b; }) / 35; });
}
