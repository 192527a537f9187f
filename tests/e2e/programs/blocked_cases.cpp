// Cases for the library's operators on channels in blocks. Lanes past the channels of the inputs are NaN.
#include <cmath>
#include <limits>

#include "ferry/ops/blocked.h"
#include "ferry/ops/elementwise.h"
#include "tests/e2e/programs/built_case.h"

namespace ferry::test {

namespace {

using lang::constant;
using lang::Expr;
using lang::in;
using lang::placeholder;
using lang::Tensor;

// The movement of a filter along one dimension of an image.
struct Move {
  std::int64_t kernel = 3, stride = 1, before = 1, after = 1, dilation = 1;

  ops::Window window() const { return {stride, before, dilation, after}; }
  std::int64_t size(std::int64_t extent) const {
    return (extent + before + after - dilation * (kernel - 1) - 1) / stride + 1;
  }
  std::int64_t place(std::int64_t o, std::int64_t k) const { return o * stride + k * dilation - before; }
};

struct Shape {
  std::int64_t images = 1, channels = 1, outputs = 1, height = 1, width = 1;
  Move down = {}, right = {};
  std::int64_t groups = 1;

  std::vector<ops::Window> windows() const { return {down.window(), right.window()}; }
  Index result() const { return {images, outputs, down.size(height), right.size(width)}; }
};

const Move kPoint = {.kernel = 1, .before = 0, .after = 0};
const Move kHalf = {.stride = 2}, kLeft = {.before = 2, .after = 0}, kWide = {.before = 2, .after = 2, .dilation = 2};

const std::vector<Shape> kConvolutions = {
    {.channels = 32, .outputs = 32, .height = 5, .width = 9},
    {.channels = 16, .outputs = 48, .height = 7, .width = 7},
    {.images = 2, .channels = 7, .outputs = 10, .height = 6, .width = 14},
    {.channels = 24, .outputs = 19, .height = 9, .width = 11, .down = kHalf, .right = kHalf},
    {.channels = 20, .outputs = 16, .height = 8, .width = 7, .down = kLeft, .right = kWide},
    {.channels = 35, .outputs = 33, .height = 7, .width = 7, .down = kPoint, .right = kPoint},
    {.channels = 48, .outputs = 64, .height = 1, .width = 1},
    {.channels = 16, .outputs = 24, .height = 7, .width = 6, .down = {1, 2, 0, 0}, .right = {1, 2, 0, 0}},
    {.channels = 40, .outputs = 16, .height = 4, .width = 5, .down = {5, 1, 0, 4}, .right = {2, 3, 1, 0}},
    {.channels = 32, .outputs = 64, .height = 5, .width = 6, .groups = 2},
    {.channels = 24, .outputs = 16, .height = 5, .width = 6, .groups = 4},
    {.channels = 6, .outputs = 12, .height = 5, .width = 6, .groups = 6},
};
const std::vector<Shape> kFirstConvolutions = {
    {.channels = 3, .outputs = 24, .height = 19, .width = 17, .down = {7, 2, 3, 3}, .right = {7, 2, 3, 3}},
    {.channels = 3, .outputs = 16, .height = 12, .width = 13, .down = kHalf, .right = {3, 2, 0, 1}},
    {.images = 2, .channels = 1, .outputs = 3, .height = 3, .width = 30},
};
const std::vector<Shape> kChannelwise = {
    {.channels = 32, .outputs = 32, .height = 7, .width = 15},
    {.images = 2, .channels = 19, .outputs = 19, .height = 9, .width = 10, .down = kHalf, .right = kHalf},
    {.channels = 24, .outputs = 24, .height = 6, .width = 7, .down = {5, 1, 2, 2}, .right = {5, 2, 2, 2}},
    {.channels = 5, .outputs = 5, .height = 1, .width = 1},
    {.channels = 16, .outputs = 16, .height = 9, .width = 8, .down = kWide, .right = kLeft},
};

// Returns random images in blocks. Lanes past the channels are NaN.
Data blocked_floats(const Shape& shape, std::int64_t channels, std::int64_t lanes, std::uint64_t seed) {
  const std::int64_t pixels = shape.height * shape.width, blocks = (channels + lanes - 1) / lanes;
  Data data = floats({shape.images, blocks, shape.height, shape.width, lanes}, seed);
  for (std::size_t place = 0; place < data.values.size(); ++place) {
    const std::int64_t at = static_cast<std::int64_t>(place);
    if (at / (pixels * lanes) % blocks * lanes + at % lanes >= channels)
      data.values[place] = std::numeric_limits<double>::quiet_NaN();
  }
  return data;
}

double pixel(const Data& x, std::int64_t lanes, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
  return x.at({n, c / lanes, h, w, c % lanes});
}

bool is_inside(const Shape& shape, std::int64_t h, std::int64_t w) {
  return h >= 0 && h < shape.height && w >= 0 && w < shape.width;
}

std::string title(const char* what, std::size_t number, std::int64_t lanes) {
  return std::string(what) + " " + std::to_string(number) + " in blocks of " + std::to_string(lanes) + " channels";
}

// Calls term(i, kh, kw, h, w) for each element of the window of result i that is inside of the image.
template <class Term>
void for_window(const Shape& shape, const Index& i, Term term) {
  for (std::int64_t kh = 0; kh < shape.down.kernel; ++kh)
    for (std::int64_t kw = 0; kw < shape.right.kernel; ++kw) {
      const std::int64_t h = shape.down.place(i[2], kh), w = shape.right.place(i[3], kw);
      if (is_inside(shape, h, w)) term(kh, kw, h, w);
    }
}

// Sums with a bias, a second image and an activation, as in a network.
void convolutions(std::vector<ProgramCase>& cases, std::int64_t lanes) {
  for (std::size_t s = 0; s < kConvolutions.size(); ++s) {
    const Shape& shape = kConvolutions[s];
    const std::int64_t each = shape.channels / shape.groups;
    const Index filters = {shape.outputs, each, shape.down.kernel, shape.right.kernel}, result = shape.result();
    const Data image = blocked_floats(shape, shape.channels, lanes, 130 + s);
    const Shape after = {.images = result[0], .height = result[2], .width = result[3]};
    const Data other = blocked_floats(after, shape.outputs, lanes, 150 + s);
    const Tensor x = placeholder({image.shape.begin(), image.shape.end()}, DType::f32, "X"),
                 k = placeholder({filters.begin(), filters.end()}, DType::f32, "K"),
                 b = placeholder({shape.outputs}, DType::f32, "B"),
                 r = placeholder({other.shape.begin(), other.shape.end()}, DType::f32, "R");
    const Tensor sums = ops::conv2d_blocked(x, k, shape.windows(), "S", shape.groups);
    const Tensor y = lang::compute(
        sums.shape(),
        [&](auto& i) {
          const Expr channel = ir::min(i[1] * lanes + i[4], shape.outputs - 1);
          return ir::max(sums(i) + b(channel) + r(i), 0.0F);
        },
        "Y");
    cases.push_back(built_case(
        title("convolution", s, lanes), {in(x), constant(k), constant(b), in(r)},
        ops::from_blocked(y, shape.outputs, "Z"),
        {image, floats(filters, 170 + s), floats({shape.outputs}, 190), other}, result,
        [shape, each, lanes](auto& a, auto& i) {
          Element sum;
          for_window(shape, i, [&](std::int64_t kh, std::int64_t kw, std::int64_t h, std::int64_t w) {
            for (std::int64_t c = 0; c < each; ++c) {
              const std::int64_t channel = i[1] / (shape.outputs / shape.groups) * each + c;
              sum.add(pixel(a[0], lanes, i[0], channel, h, w) * a[1](i[1], c, kh, kw));
            }
          });
          sum.add(a[2](i[1]));
          sum.add(pixel(a[3], lanes, i[0], i[1], i[2], i[3]));
          sum.value = std::max(sum.value, 0.0);
          return sum;
        },
        1e-6));
  }
}

void first_convolutions(std::vector<ProgramCase>& cases, std::int64_t lanes) {
  for (std::size_t s = 0; s < kFirstConvolutions.size(); ++s) {
    const Shape& shape = kFirstConvolutions[s];
    const Index filters = {shape.outputs, shape.channels, shape.down.kernel, shape.right.kernel};
    const Index sizes = {shape.images, shape.channels, shape.height, shape.width};
    const Tensor x = placeholder({sizes.begin(), sizes.end()}, DType::f32, "X"),
                 k = placeholder({filters.begin(), filters.end()}, DType::f32, "K");
    const Tensor y = ops::relu(ops::conv2d_to_blocked(x, k, shape.windows(), lanes, "S"), "Y");
    cases.push_back(built_case(
        title("convolution of plain images", s, lanes), {in(x), constant(k)}, ops::from_blocked(y, shape.outputs, "Z"),
        {floats(sizes, 210 + s), floats(filters, 220 + s)}, shape.result(),
        [shape](auto& a, auto& i) {
          Element sum;
          for_window(shape, i, [&](std::int64_t kh, std::int64_t kw, std::int64_t h, std::int64_t w) {
            for (std::int64_t c = 0; c < shape.channels; ++c) sum.add(a[0](i[0], c, h, w) * a[1](i[1], c, kh, kw));
          });
          sum.value = std::max(sum.value, 0.0);
          return sum;
        },
        1e-6));
  }
}

void channelwise(std::vector<ProgramCase>& cases, std::int64_t lanes) {
  for (std::size_t s = 0; s < kChannelwise.size(); ++s) {
    const Shape& shape = kChannelwise[s];
    const Index filters = {shape.channels, 1, shape.down.kernel, shape.right.kernel};
    const Data image = blocked_floats(shape, shape.channels, lanes, 230 + s);
    const Tensor x = placeholder({image.shape.begin(), image.shape.end()}, DType::f32, "X"),
                 k = placeholder({filters.begin(), filters.end()}, DType::f32, "K");
    const Tensor y = ops::relu(ops::depthwise_conv2d_blocked(x, k, shape.windows(), "S"), "Y");
    cases.push_back(built_case(
        title("depthwise convolution", s, lanes), {in(x), constant(k)}, ops::from_blocked(y, shape.channels, "Z"),
        {image, floats(filters, 240 + s)}, shape.result(),
        [shape, lanes](auto& a, auto& i) {
          Element sum;
          for_window(shape, i, [&](std::int64_t kh, std::int64_t kw, std::int64_t h, std::int64_t w) {
            sum.add(pixel(a[0], lanes, i[0], i[1], h, w) * a[1](i[1], 0, kh, kw));
          });
          sum.value = std::max(sum.value, 0.0);
          return sum;
        },
        1e-6));
    const ops::NdPooling pooling = {
        .windows = {{shape.down.kernel, shape.down.window()}, {shape.right.kernel, shape.right.window()}}};
    cases.push_back(built_case(title("max pool", s, lanes), {in(x)},
                               ops::from_blocked(ops::max_pool2d_blocked(x, pooling, "Y"), shape.channels, "Z"),
                               {image}, shape.result(), [shape, lanes](auto& a, auto& i) {
                                 double most = -std::numeric_limits<double>::infinity();
                                 for_window(shape, i, [&](std::int64_t, std::int64_t, std::int64_t h, std::int64_t w) {
                                   most = std::max(most, pixel(a[0], lanes, i[0], i[1], h, w));
                                 });
                                 return Element{most, 0};
                               }));
    cases.push_back(built_case(
        title("average pool", s, lanes), {in(x)},
        ops::from_blocked(ops::average_pool2d_blocked(x, pooling, "Y"), shape.channels, "Z"), {image}, shape.result(),
        [shape, lanes](auto& a, auto& i) {
          Element sum;
          double count = 0;
          for_window(shape, i, [&](std::int64_t, std::int64_t, std::int64_t h, std::int64_t w) {
            sum.add(pixel(a[0], lanes, i[0], i[1], h, w));
            ++count;
          });
          sum.value /= count;
          return sum;
        },
        1e-6));
  }
}

void conversions(std::vector<ProgramCase>& cases, std::int64_t lanes) {
  const Shape shape = {.images = 2, .channels = 21, .outputs = 21, .height = 3, .width = 5};
  const Tensor x = placeholder({2, 21, 3, 5}, DType::f32, "X");
  cases.push_back(built_case(title("conversion", 0, lanes), {in(x)},
                             ops::from_blocked(ops::to_blocked(x, lanes, "B"), 21, "Y"), {floats({2, 21, 3, 5}, 250)},
                             {2, 21, 3, 5}, [](auto& a, auto& i) { return Element{a[0](i[0], i[1], i[2], i[3]), 0}; }));
  const Data image = blocked_floats(shape, 21, lanes, 251);
  const Tensor b = placeholder({image.shape.begin(), image.shape.end()}, DType::f32, "B");
  const ops::NdPooling pooling = {.windows = {{3, {}}, {5, {}}}};
  cases.push_back(built_case(
      title("global average pool", 0, lanes), {in(b)},
      ops::from_blocked(ops::average_pool2d_blocked(b, pooling, "Y"), 21, "Z"), {image}, {2, 21, 1, 1},
      [lanes](auto& a, auto& i) {
        Element sum = sum_over({3, 5}, [&](auto& p) { return pixel(a[0], lanes, i[0], i[1], p[0], p[1]); });
        sum.value /= 15;
        return sum;
      },
      1e-6));
}

}  // namespace

std::vector<ProgramCase> blocked_cases() {
  std::vector<ProgramCase> cases;
  for (const std::int64_t lanes : {4, 8, 16}) {
    convolutions(cases, lanes);
    first_convolutions(cases, lanes);
    channelwise(cases, lanes);
    conversions(cases, lanes);
  }
  return cases;
}

}  // namespace ferry::test
