#include "ferry/ops/blocked.h"

#include "tests/unit/host/ops/evaluate.h"

#include <cmath>

using namespace ferry;
using namespace ferry::ops;
using lang::var;

namespace {

const std::vector<Window> kSame = {{1, 1}, {1, 1}};

// Returns the blocked image with NaN in the lanes past its channels.
Image blocked_image(const std::vector<std::int64_t>& shape, std::int64_t channels, std::uint64_t seed) {
  Image image = random_image(shape, seed);
  const std::int64_t lanes = shape[4], pixels = shape[2] * shape[3];
  for (std::size_t place = 0; place < image.values.size(); ++place) {
    const auto at = static_cast<std::int64_t>(place);
    if (at / (pixels * lanes) % shape[1] * lanes + at % lanes >= channels) image.values[place] = std::nanf("");
  }
  return image;
}

}  // namespace

TEST_CASE("channels get into blocks and out of them again") {
  const Tensor x = input({2, 5, 3, var("W")}, "X");
  const Image image = random_image({2, 5, 3, 4}, 1);
  const Tensor blocked = to_blocked(x, 4, "B");
  const Image got = evaluate(blocked, {x}, {image});
  REQUIRE(got.shape == std::vector<std::int64_t>{2, 2, 3, 4, 4});
  CHECK(got({1, 1, 2, 3, 0}) == image({1, 4, 2, 3}));
  CHECK(got({1, 0, 2, 3, 3}) == image({1, 3, 2, 3}));
  check_elements(evaluate(from_blocked(blocked, 5, "Y"), {x}, {image}), {2, 5, 3, 4},
                 [&](auto& i) { return image({i[0], i[1], i[2], i[3]}); });
}

TEST_CASE("a convolution in blocks is the one in rows, whatever lanes past the channels contain") {
  for (const std::int64_t lanes : {4, 8, 16}) {
    for (const std::int64_t groups : {1, 2}) {
      for (const std::int64_t channels : {6, 8, 32}) {
        CAPTURE(lanes);
        CAPTURE(groups);
        CAPTURE(channels);
        const std::int64_t blocks = (channels + lanes - 1) / lanes;
        const Tensor b = input({1, blocks, 7, 5, lanes}, "B"), k = input({10, channels / groups, 3, 3}, "K");
        const Image image = blocked_image({1, blocks, 7, 5, lanes}, channels, 1),
                    kernel = random_image({10, channels / groups, 3, 3}, 2);
        const std::vector<Window> windows = {{2, 1}, {1, 0, 1, 2}};
        const Tensor y = from_blocked(conv2d_blocked(b, k, windows, "Y", groups), 10, "Z");
        const Tensor plain = conv(from_blocked(b, channels, "X"), k, windows, "P", groups);
        const Image expected = evaluate(plain, {b, k}, {image, kernel});
        check_elements(evaluate(y, {b, k}, {image, kernel}), expected.shape, [&](auto& i) {
          REQUIRE(std::isfinite(expected({i[0], i[1], i[2], i[3]})));
          return expected({i[0], i[1], i[2], i[3]});
        });
      }
    }
  }
}

TEST_CASE("a convolution of images in rows gives blocks") {
  const Tensor x = input({2, 3, 9, 7}, "X"), k = input({5, 3, 3, 3}, "K");
  const Image image = random_image({2, 3, 9, 7}, 1), kernel = random_image({5, 3, 3, 3}, 2);
  const Image expected = evaluate(conv(x, k, kSame, "P"), {x, k}, {image, kernel});
  const Tensor y = conv2d_to_blocked(x, k, kSame, 4, "Y");
  check_elements(evaluate(from_blocked(y, 5, "Z"), {x, k}, {image, kernel}), expected.shape,
                 [&](auto& i) { return expected({i[0], i[1], i[2], i[3]}); });
}

TEST_CASE("each channel in a block is convolved with its own filter, and pooled by itself") {
  const Tensor b = input({1, 2, 6, 5, 4}, "B"), k = input({7, 1, 3, 3}, "K");
  const Image image = blocked_image({1, 2, 6, 5, 4}, 7, 1), kernel = random_image({7, 1, 3, 3}, 2);
  const Tensor x = from_blocked(b, 7, "X");
  const auto check = [&](const Tensor& blocked, const Tensor& plain, const std::vector<Tensor>& inputs,
                         const std::vector<Image>& images) {
    const Image expected = evaluate(plain, inputs, images);
    check_elements(evaluate(from_blocked(blocked, 7, "Z"), inputs, images), expected.shape,
                   [&](auto& i) { return expected({i[0], i[1], i[2], i[3]}); });
  };
  check(depthwise_conv2d_blocked(b, k, kSame, "Y"), conv(x, k, kSame, "P", 7), {b, k}, {image, kernel});
  for (const bool ceil : {false, true}) {
    const NdPooling shape = {.windows = {{3, {2, 1}}, {2, {2, 0}}}, .ceil = ceil, .count_padding = ceil};
    check(max_pool2d_blocked(b, shape, "Y"), max_pool(x, shape, "P"), {b}, {image});
    check(average_pool2d_blocked(b, shape, "Y"), average_pool(x, shape, "P"), {b}, {image});
  }
}

TEST_CASE("operators on blocks refuse shapes that do not fit") {
  const Tensor x = input({1, 2, 7, 5, 4}, "X"), k = input({6, 8, 3, 3}, "K");
  CHECK(refusal([&] { conv2d_blocked(x, input({6, 9, 3, 3}, "K"), kSame, "Y"); }) ==
        "'Y': expected the blocks of 'X' and of its channels to be the same, got 2 and 3");
  CHECK(refusal([&] { conv2d_blocked(x, input({6, 2, 3, 3}, "K"), kSame, "Y", 4); }) ==
        "'Y': expected outputs in 4 equal groups, got [6, 2, 3, 3]");
  CHECK(refusal([&] { conv2d_blocked(x, k, kSame, "Y", 0); }) == "'Y': expected at least 1 group, got 0");
  CHECK(refusal([&] { conv2d_blocked(x, k, {{1, 1}}, "Y"); }) ==
        "'Y': expected a window for the height and one for the width, got 1");
  CHECK(refusal([&] { conv2d_blocked(input({1, 2, 7, 5}, "X"), k, kSame, "Y"); }) ==
        "'Y': expected 'X' to have 5 dimensions, got [1, 2, 7, 5]");
  CHECK(refusal([&] { conv2d_blocked(input({1, 2, 7, 5, var("c")}, "X"), k, kSame, "Y"); }) ==
        "'Y': expected a constant number of channels in a block of 'X', got [1, 2, 7, 5, c]");
  CHECK(refusal([&] { depthwise_conv2d_blocked(x, input({8, 2, 3, 3}, "K"), kSame, "Y"); }) ==
        "'Y': expected the filters of a channel of 'K' and one to be the same, got 2 and 1");
  CHECK(refusal([&] { conv2d_to_blocked(input({1, 4, 7, 5}, "X"), k, kSame, 4, "Y"); }) ==
        "'Y': expected the channels of 'X' and 'K' to be the same, got 4 and 8");
  CHECK(refusal([&] { to_blocked(input({1, 4, 2, 2}, "X"), 0, "B"); }) ==
        "'B': expected blocks of at least 1 channel, got 0");
  CHECK(refusal([&] { max_pool2d_blocked(x, {.windows = {{2, {}}}}, "Y"); }) ==
        "'Y': expected a window for the height and one for the width, got 1");
}
