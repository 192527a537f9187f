// Tests of the default schedules of operators on images with channels in blocks.
#include "ferry/lang/program.h"
#include "ferry/lang/text.h"
#include "ferry/ops/blocked.h"
#include "ferry/ops/integers.h"
#include "ferry/ops/winograd.h"
#include "ferry/schedule/default_schedule.h"
#include "tests/unit/host/autoschedule/rule_cases.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;
using lang::Tensor;

namespace {

const Target kTarget = test::small_cpu(512, 48 << 10, 2 << 20);

struct Shape {
  std::int64_t channels, outputs, pixels, kernel;
};

Tensor image(const Shape& shape) {
  return lang::placeholder({1, (shape.channels + 15) / 16, shape.pixels, shape.pixels, 16}, DType::f32, "X");
}

std::vector<ops::Window> windows(const Shape& shape, std::int64_t stride = 1) {
  const ops::Window window = {stride, shape.kernel / 2};
  return {window, window};
}

std::string convolution(const Shape& shape, const Target& target = kTarget) {
  const Tensor x = image(shape);
  const Tensor k = lang::placeholder({shape.outputs, shape.channels, shape.kernel, shape.kernel}, DType::f32, "K");
  const Tensor y = ops::conv2d_blocked(x, k, windows(shape), "Y");
  const lang::Program program = lang::make_program("f", {lang::in(x), lang::constant(k), lang::out(y)});
  return autoschedule::default_schedule(program, target).to_text();
}

std::string depthwise(const Shape& shape, std::int64_t stride = 1, const Target& target = kTarget) {
  const Tensor x = image(shape);
  const Tensor k = lang::placeholder({shape.channels, 1, shape.kernel, shape.kernel}, DType::f32, "K");
  const Tensor y = ops::depthwise_conv2d_blocked(x, k, windows(shape, stride), "Y");
  const lang::Program program = lang::make_program("f", {lang::in(x), lang::constant(k), lang::out(y)});
  return autoschedule::default_schedule(program, target).to_text();
}

std::string byte_convolution(const Shape& shape, const ops::IntegerProducts& products, bool has_dot,
                             DType dtype = DType::u8) {
  Target target = kTarget;
  target.capabilities.vnni_512 = has_dot;
  const Tensor x = lang::placeholder({1, (shape.channels + 15) / 16, shape.pixels, shape.pixels, 16}, dtype, "X");
  const Tensor k = lang::placeholder({shape.outputs, shape.channels, shape.kernel, shape.kernel}, DType::i8, "K"),
               z = lang::placeholder({}, dtype, "zero");
  const Tensor y = ops::integer_conv2d_blocked(x, k, z(std::vector<lang::Expr>{}), windows(shape), products, "Y");
  const lang::Program program =
      lang::make_program("f", {lang::in(x), lang::constant(k), lang::constant(z), lang::out(y)});
  return autoschedule::default_schedule(program, target).to_text();
}

std::string winograd(const Shape& shape, std::int64_t tile) {
  const Tensor x = image(shape);
  const Tensor k = lang::placeholder({shape.outputs, shape.channels, shape.kernel, shape.kernel}, DType::f32, "K");
  const Tensor y = ops::winograd_conv2d_blocked(x, k, windows(shape), tile, "Y");
  const lang::Program program = lang::make_program("f", {lang::in(x), lang::constant(k), lang::out(y)});
  return autoschedule::default_schedule(program, kTarget).to_text();
}

bool has(const std::string& text, const std::string& directive) { return text.find(directive) != std::string::npos; }

}  // namespace

TEST_CASE("filters of convolutions are packed before the calls, whether blocks are full or not") {
  for (const Shape& shape :
       {Shape{64, 128, 28, 1}, {24, 40, 28, 1}, {64, 16, 28, 1}, {16, 16, 14, 3}, {72, 24, 1, 1}}) {
    const std::string text = convolution(shape);
    INFO(text);
    CHECK(has(text, "Y.weights: cache_read global Y"));
    CHECK(has(text, "Y.weights.global: transform_layout"));
  }
}

TEST_CASE("threads share out rows of the image, unless the filters are much larger") {
  CHECK(has(convolution({384, 64, 14, 1}), "Y: parallel i2\n"));
  CHECK(has(convolution({64, 64, 56, 3}), "Y: parallel i2\n"));
  CHECK(has(convolution({960, 160, 7, 1}), "Y: parallel i2.outer\n"));
  // Each thread would read all of the filters, which exceed the second-level cache or, by far, the image.
  CHECK(has(convolution({512, 512, 14, 3}), "Y: parallel i1.outer\n"));
  CHECK(has(convolution({64, 1280, 7, 1}), "Y: parallel i1.outer\n"));
}

TEST_CASE("threads share out rows of large images in depthwise convolutions") {
  CHECK(has(depthwise({96, 96, 56, 3}), "Y: parallel i2\n"));
  CHECK(has(depthwise({96, 96, 28, 3}), "Y: parallel i1\n"));
}

TEST_CASE("filters that few tiles use are prefetched") {
  CHECK(has(convolution({512, 512, 7, 3}), "Y: prefetch Y.weights.global c 16\n"));
  CHECK(has(convolution({1024, 256, 14, 1}), "Y: prefetch Y.weights.global c 16\n"));
  CHECK(has(convolution({24, 1280, 7, 1}), "Y: prefetch Y.weights.global c 16\n"));
  // Many tiles use them, or they stay in the first-level cache.
  CHECK_FALSE(has(convolution({64, 64, 56, 3}), "prefetch"));
  CHECK_FALSE(has(convolution({32, 64, 7, 1}), "prefetch"));
  Target other = kTarget;
  other.capabilities.row_prefetch = false;
  CHECK_FALSE(has(convolution({512, 512, 7, 3}, other), "prefetch"));
  // Groups of integers.
  CHECK_FALSE(has(byte_convolution({512, 512, 7, 3}, {ops::IntegerFactors::bytes, 4}, true), "prefetch"));
  CHECK_FALSE(has(byte_convolution({512, 512, 7, 3}, {ops::IntegerFactors::int16, 2}, true), "prefetch"));
}

TEST_CASE("transformed weights that the second-level cache does not hold are prefetched") {
  // All 16 tiles at once, so that each weight is read once.
  const std::string text = winograd({512, 512, 7, 3}, 2);
  CHECK(has(text, "Y.products: split ty.tx.fused 16\n"));
  CHECK(has(text, "Y.products: prefetch Y.weights u 64\n"));
  CHECK(has(winograd({256, 256, 14, 3}, 2), "Y.products: prefetch Y.weights u"));
  // The cache holds these, but few tiles read them: in a network they are somewhere else as a call begins.
  CHECK(has(winograd({32, 128, 27, 3}, 4), "Y.products: prefetch Y.weights u"));
  CHECK_FALSE(has(winograd({64, 64, 56, 3}, 4), "prefetch"));
}

TEST_CASE("a last tile of fewer blocks is better than a smaller tile") {
  CHECK(has(convolution({512, 1000, 13, 1}), "Y: split i3 13\n"));
  CHECK(has(convolution({512, 1000, 13, 1}), "Y: split i1 2\n"));
  CHECK(has(convolution({24, 144, 56, 1}), "Y: split i1 3\n"));
}

TEST_CASE("depthwise convolutions unroll tiles of pixels and read no padded image") {
  const std::string text = depthwise({32, 32, 112, 3});
  INFO(text);
  CHECK(has(text, "Y.pad: compute_inline"));
  CHECK(has(text, "Y: split i3 8\n"));
  CHECK(has(text, "Y: unroll kh"));
  CHECK(has(depthwise({32, 32, 7, 5}), "Y: split i3 7\n"));
  // Rows at a border are most of the image.
  CHECK(has(depthwise({32, 32, 7, 5}), "Y: unroll i2"));
  CHECK_FALSE(has(depthwise({32, 32, 7, 3}), "Y: unroll i2"));
  // The window is too large to be unrolled.
  CHECK_FALSE(has(depthwise({32, 32, 14, 7}), "Y: unroll kh"));
}

TEST_CASE("tiles of depthwise convolutions have as many pixels as make instructions few") {
  Target narrow = kTarget, few = kTarget;
  narrow.vector_registers = 16;
  few.vector_bits = 128;
  const auto tile = [](const std::string& text) {
    const std::size_t at = text.find("Y: split i3 ");
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + 12));
  };
  // Filters of 3x3 stay in registers beside the sums and elements of 11 pixels. Those of 5x5 do not, so that more
  // pixels share them.
  CHECK(tile(depthwise({32, 32, 112, 3})) == 8);
  CHECK(tile(depthwise({32, 32, 28, 3})) == 7);
  CHECK(tile(depthwise({32, 32, 14, 3})) == 7);
  CHECK(tile(depthwise({32, 32, 28, 5})) == 14);
  CHECK(tile(depthwise({32, 32, 14, 5})) == 14);
  CHECK(tile(depthwise({32, 32, 28, 3}, 2)) == 7);
  CHECK(tile(depthwise({32, 32, 112, 3}, 2)) == 8);
  CHECK(tile(depthwise({32, 32, 13, 3})) == 13);
  // With 16 registers, more than 7 pixels would load elements again.
  for (const std::int64_t pixels : {112, 28, 14})
    for (const std::int64_t kernel : {3, 5}) CHECK(tile(depthwise({32, 32, pixels, kernel}, 1, narrow)) == 7);
  // Vectors of four: enough sums in flight, and no row of two tiles.
  CHECK(tile(depthwise({32, 32, 14, 3}, 1, few)) == 14);
}

TEST_CASE("windows over images of open size read a padded block of channels if they read each element often") {
  const auto open = [](std::int64_t kernel, std::int64_t stride) {
    const Tensor x = lang::placeholder({1, 2, lang::var("H"), lang::var("W"), 16}, DType::f32, "X");
    const Tensor k = lang::placeholder({32, 1, kernel, kernel}, DType::f32, "K");
    const ops::Window window = {stride, kernel / 2};
    const Tensor y = ops::depthwise_conv2d_blocked(x, k, {window, window}, "Y");
    const lang::Program program = lang::make_program("f", {lang::in(x), lang::constant(k), lang::out(y)});
    return autoschedule::default_schedule(program, kTarget).to_text();
  };
  for (const std::int64_t kernel : {3, 5}) {
    const std::string text = open(kernel, 1);
    INFO(text);
    CHECK(has(text, "Y.pad: compute_at Y i1"));
    CHECK(has(text, "Y: unroll kh"));
  }
  const std::string halved = open(3, 2);
  INFO(halved);
  CHECK(has(halved, "Y.pad: compute_inline"));
  CHECK(has(halved, "Y: unroll kh"));
  // The code for borders is less if only the columns of a large window are unrolled.
  const std::string large = open(5, 4);
  INFO(large);
  CHECK(has(large, "Y.pad: compute_inline"));
  CHECK(has(large, "Y: unroll kw"));
  CHECK_FALSE(has(large, "Y: unroll kh"));
}

TEST_CASE("sums of bytes in groups are instructions where the target has one for their types") {
  for (const Shape& shape : {Shape{64, 64, 56, 3}, {20, 40, 7, 1}, {16, 16, 14, 3}}) {
    using ops::IntegerFactors;
    const ops::IntegerProducts bytes = {IntegerFactors::bytes, 4}, flipped = {IntegerFactors::flipped, 4},
                               pairs = {IntegerFactors::int16, 2};
    const std::string text = byte_convolution(shape, bytes, true);
    INFO(text);
    CHECK(has(text, "Y.products: tensorize i4"));
    // The sums are finished while they are in registers.
    CHECK(has(text, "Y.products: compute_at Y "));
    CHECK_FALSE(has(byte_convolution(shape, bytes, false), "tensorize"));
    CHECK_FALSE(has(byte_convolution(shape, {IntegerFactors::bytes, 1}, true), "tensorize"));
    CHECK_FALSE(has(byte_convolution(shape, bytes, true, DType::i8), "tensorize"));
    CHECK(has(byte_convolution(shape, flipped, true, DType::i8), "Y.products: tensorize i4"));
    for (const DType dtype : {DType::u8, DType::i8})
      CHECK(has(byte_convolution(shape, pairs, true, dtype), "Y: tensorize i4"));
  }
}

TEST_CASE("a window without results, over an image that a contraction computes, has a schedule") {
  for (const char* rows : {"0", "3"}) {
    const std::string text =
        "def f(float(1,2,32,32,16) X, const float(4,2,16,16) W) -> (Y) {\n"
        "  P(n,o,h,w,c) +=! X(n,i,h,w,k) * W(o,i,k,c)\n"
        "  Y(n,o,h,w,c) max=! P(n,o,h+i,w+j,c) where i in 0:3, j in 0:3, h in 0:" +
        std::string(rows) + ", w in 0:30\n}";
    const lang::Program program = lang::parse(text, "f.tc").front();
    const std::string point = autoschedule::point_at(program, test::small_cpu(512, 1 << 10, 1 << 12));
    CHECK(has(point, "Y: rows=") == (std::string(rows) == "3"));
  }
}
