// Cases for Winograd convolution, alone and with what follows a layer, compared with plain sums within the stated
// bound.
#include <algorithm>
#include <cmath>

#include "ferry/lang/math.h"
#include "ferry/ops/winograd.h"
#include "tests/e2e/programs/built_case.h"

namespace ferry::test {

namespace {

using lang::Expr;
using lang::in;
using lang::placeholder;
using lang::Tensor;

struct Shape {
  std::int64_t images, channels, filters, height, width, lanes;
  std::int64_t top, bottom, left, right;  // padding

  std::int64_t results(std::size_t d) const { return d == 0 ? height + top + bottom - 2 : width + left + right - 2; }
  std::int64_t blocks(std::int64_t count) const { return (count + lanes - 1) / lanes; }
  std::vector<ops::Window> windows() const { return {{1, top, 1, bottom}, {1, left, 1, right}}; }
};

const Shape kShapes[] = {
    {1, 1, 1, 1, 1, 4, 1, 1, 1, 1},   {2, 7, 5, 11, 13, 4, 0, 2, 1, 0}, {1, 20, 18, 9, 14, 16, 1, 1, 1, 1},
    {1, 16, 9, 17, 6, 8, 1, 1, 1, 1}, {1, 3, 4, 3, 5, 4, 0, 0, 0, 0},
};

// Returns the convolution's element with the magnitude that its bound is relative to. Results past the last filter are
// 0.
Element convolve(const Shape& shape, const Data& x, const Data& weights, const Index& at) {
  const std::int64_t o = at[1] * shape.lanes + at[4];
  Element result;
  if (o >= shape.filters) return result;
  double most = 0, sum = 0;
  for (const double value : x.values) most = std::max(most, std::abs(value));
  for (std::int64_t c = 0; c < shape.channels; ++c)
    for (std::int64_t r = 0; r < 3; ++r)
      for (std::int64_t s = 0; s < 3; ++s) {
        const std::int64_t h = at[2] + r - shape.top, w = at[3] + s - shape.left;
        sum += std::abs(weights(o, c, r, s));
        if (h < 0 || h >= shape.height || w < 0 || w >= shape.width) continue;
        result.add(x.at({at[0], c / shape.lanes, h, w, c % shape.lanes}) * weights(o, c, r, s));
      }
  result.scale = most * sum;
  return result;
}

// hard_swish() uses the convolution twice.
enum class Epilogue { none, residual, hard_swish };

double finish(Epilogue epilogue, double value, double residual) {
  if (epilogue == Epilogue::none) return value;
  if (epilogue == Epilogue::residual) return std::max(value + residual, 0.0);
  return value * std::clamp(value + 3, 0.0, 6.0) / 6;
}

Tensor finished(Epilogue epilogue, const Tensor& conv, const Tensor& residual) {
  if (epilogue == Epilogue::none) return conv;
  return lang::compute(
      conv.shape(),
      [&](const std::vector<Expr>& i) {
        if (epilogue == Epilogue::residual) return ir::max(conv(i) + residual(i), 0.0);
        return conv(i) * ir::min(ir::max(conv(i) + 3.0, 0.0), 6.0) / 6.0;
      },
      "Z");
}

void add_case(std::vector<ProgramCase>& cases, const Shape& shape, std::int64_t tile, Epilogue epilogue) {
  const Index x_shape = {shape.images, shape.blocks(shape.channels), shape.height, shape.width, shape.lanes};
  const Index shape_of_result = {shape.images, shape.blocks(shape.filters), shape.results(0), shape.results(1),
                                 shape.lanes};
  const Index weights_shape = {shape.filters, shape.channels, 3, 3};
  const auto tensor = [](const Index& sizes, const char* name) {
    return placeholder(std::vector<Expr>(sizes.begin(), sizes.end()), DType::f32, name);
  };
  const Tensor x = tensor(x_shape, "X"), weights = tensor(weights_shape, "K"), residual = tensor(shape_of_result, "R");
  const Tensor conv = ops::winograd_conv2d_blocked(x, weights, shape.windows(), tile, "Y");
  const std::int64_t channels = x_shape[1] * shape.lanes;
  // A derivative of hard_swish() is at most 2 where values are below 4.5.
  const double tolerance =
      2 * ops::winograd_error_factor(tile) * static_cast<double>(channels + 33) * std::ldexp(1.0, -24);
  cases.push_back(built_case(
      "Winograd convolution in tiles of " + std::to_string(tile) + " of " + std::to_string(shape.channels) +
          " channels, epilogue " + std::to_string(static_cast<int>(epilogue)),
      {in(x), lang::constant(weights), in(residual)}, finished(epilogue, conv, residual),
      {floats(x_shape, 1), floats(weights_shape, 2), floats(shape_of_result, 3)}, shape_of_result,
      [shape, epilogue](const Arguments& a, const Index& i) {
        const Element conv_element = convolve(shape, a[0], a[1], i);
        return Element{finish(epilogue, conv_element.value, a[2].at(i)), conv_element.scale + 1};
      },
      tolerance));
}

}  // namespace

std::vector<ProgramCase> winograd_cases() {
  std::vector<ProgramCase> cases;
  for (const std::int64_t tile : {2, 4}) {
    for (const Shape& shape : kShapes) add_case(cases, shape, tile, Epilogue::none);
    add_case(cases, kShapes[1], tile, Epilogue::residual);
    add_case(cases, kShapes[3], tile, Epilogue::hard_swish);
  }
  return cases;
}

}  // namespace ferry::test
