#include "ferry/ops/blocked_convolution.h"

#include "tests/unit/host/ops/evaluate.h"

using namespace ferry;
using namespace ferry::ops;
using lang::var;

TEST_CASE("channels in blocks are filled up with zeros, and come out of their blocks again") {
  const Tensor x = input({2, var("C"), 3, var("W")}, "X");
  const Image image = random_image({2, 5, 3, 4}, 1);
  const Tensor blocked = pack_nchwc(x, 4, "B");
  check_elements(evaluate(blocked, {x}, {image}), {2, 2, 3, 4, 4}, [&](auto& i) {
    const std::int64_t c = i[1] * 4 + i[4];
    return c < 5 ? image({i[0], c, i[2], i[3]}) : 0.0;
  });
  check_elements(evaluate(unpack_nchwc(blocked, x.shape()[1], "Y"), {x}, {image}), {2, 5, 3, 4},
                 [&](auto& i) { return image({i[0], i[1], i[2], i[3]}); });
}

TEST_CASE("filters are packed in blocks of inputs and outputs") {
  const Tensor k = input({6, 5, 1, 3}, "K");
  const Image image = random_image({6, 5, 1, 3}, 1);
  check_elements(evaluate(pack_filters(k, 2, 4, "P"), {k}, {image}), {2, 3, 1, 3, 2, 4}, [&](auto& i) {
    const std::int64_t o = i[0] * 4 + i[5], c = i[1] * 2 + i[4];
    return o < 6 && c < 5 ? image({o, c, i[2], i[3]}) : 0.0;
  });
}

TEST_CASE("a convolution in blocks is the one in rows") {
  const Tensor x = input({1, 6, 7, 5}, "X"), k = input({3, 6, 3, 3}, "K");
  const Image image = random_image({1, 6, 7, 5}, 1), kernel = random_image({3, 6, 3, 3}, 2);
  for (const std::int64_t stride : {1, 2}) {
    const Convolution shape = convolution(stride, 1);
    const Tensor blocked = conv2d_nchwc(pack_nchwc(x, 4, "XB"), pack_filters(k, 4, 2, "KB"), shape, "YB");
    const Image expected = evaluate(conv2d(x, k, shape, "Z"), {x, k}, {image, kernel});
    check_elements(evaluate(unpack_nchwc(blocked, 3, "Y"), {x, k}, {image, kernel}), expected.shape,
                   [&](auto& i) { return expected({i[0], i[1], i[2], i[3]}); });
  }
}

TEST_CASE("a convolution in blocks refuses blocks that do not fit each other") {
  const Tensor x = input({1, 2, 7, 5, 4}, "X");
  CHECK(refusal([&] { conv2d_nchwc(x, input({1, 2, 3, 3, 8, 4}, "K"), convolution(1, 1), "Y"); }) ==
        "'Y': expected the channels in a block of 'X' and 'K' to be the same, got 4 and 8");
  CHECK(refusal([&] { conv2d_nchwc(x, input({1, 3, 3, 3, 4, 4}, "K"), convolution(1, 1), "Y"); }) ==
        "'Y': expected the blocks of channels of 'X' and 'K' to be the same, got 2 and 3");
  CHECK(refusal([&] { conv2d_nchwc(x, input({1, 2, 3, 3, 4, 4}, "K"), convolution(1, 1, 1, 2), "Y"); }) ==
        "'Y': expected 1 group, got 2");
  CHECK(refusal([&] { pack_nchwc(input({1, 4, 2, 2}, "X"), 0, "B"); }) ==
        "'B': expected blocks of at least 1 channel, got 0");
}
