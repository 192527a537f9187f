#include "host/graph/onnx/interpolation.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "host/graph/onnx/node_ops.h"

namespace ferry::graph::onnx {
namespace {

// Elements that one of the result depends on. More are needed where antialias shrinks images to less than 1/16.
constexpr double kMaxTaps = 64;

// Returns the place in the input of an element of the result. Each place that may lie on an element or in the middle of
// two is one quotient of exact numbers, so that rounding never moves it to the other side.
double coordinate(const Interpolation& how, const Axis& axis, std::int64_t i) {
  const auto at = static_cast<double>(i), from = static_cast<double>(axis.from), to = static_cast<double>(axis.to);
  const auto [up, down] = axis.scale;
  if (how.coordinates == "asymmetric") return at * down / up;
  if (how.coordinates == "tf_half_pixel_for_nn") return (2 * at + 1) * down / (2 * up);
  // The result's size before it is rounded.
  const double length = up * from / down;
  if (how.coordinates == "align_corners") return axis.to == 1 ? 0 : at * (from - 1) / (length - 1);
  if (how.coordinates == "tf_crop_and_resize") {
    const double extent = (axis.end - axis.begin) * (from - 1);
    return axis.begin * (from - 1) + (length == 1 ? extent / 2 : at * extent / (length - 1));
  }
  if (how.coordinates == "pytorch_half_pixel" && axis.to == 1) return 0;
  // (at + 1/2) / scale - 1/2
  if (how.coordinates != "half_pixel_symmetric") return ((2 * at + 1) * down - up) / (2 * up);
  // The same, plus from / 2 * (1 - to / length).
  return ((2 * at + 1 - to) * down + (from - 1) * up) / (2 * up);
}

double nearest_index(const std::string& rounding, double place) {
  if (rounding == "floor") return std::floor(place);
  if (rounding == "ceil") return std::ceil(place);
  return rounding == "round_prefer_ceil" ? std::floor(place + 0.5) : std::ceil(place - 0.5);
}

// The weight of an element at a distance: of linear interpolation, or of the cubic convolution of R. Keys, "Cubic
// Convolution Interpolation for Digital Image Processing", 1981.
double weight_at(const Interpolation& how, double distance) {
  const double x = std::fabs(distance), a = how.cubic_coefficient;
  if (how.mode == "linear") return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The input elements and weights of one element of the result.
struct Taps {
  double first = 0;  // the lowest index, which may be outside of the input
  std::vector<double> weights;
};

Taps taps_of(const Interpolation& how, const Axis& axis, double place) {
  if (how.mode == "nearest") return {nearest_index(how.nearest, place), {1}};
  // Images that shrink are smoothed by weights that reach as much further.
  const double narrow = how.antialias ? std::min(axis.scale.value(), 1.0) : 1, reach = how.mode == "linear" ? 1 : 2;
  const double start = std::floor(-reach / narrow) + 1;
  Taps taps = {std::ceil(place) - 1 + start, {}};
  double sum = 0;
  for (double k = 0; k < 2 - 2 * start; ++k) {
    const double index = taps.first + k;
    const bool is_outside = index < 0 || index > static_cast<double>(axis.from - 1);
    taps.weights.push_back(how.exclude_outside && is_outside ? 0 : weight_at(how, (index - place) * narrow));
    sum += taps.weights.back();
  }
  if (how.antialias || how.exclude_outside) {
    for (double& weight : taps.weights) weight /= sum;
  }
  return taps;
}

}  // namespace

void expect_few_taps(const NodeImport& node, const Interpolation& how, double scale) {
  // Images that shrink by this are smoothed by twice as many elements, and by four times as many for cubic weights.
  node.expect(!how.antialias || scale * kMaxTaps >= (how.mode == "linear" ? 2 : 4),
              "antialias of at most 64 elements for one of the result",
              [&] { return "a scale of " + std::to_string(scale); });
}

Value resize_axis(const NodeImport& node, const Value& x, std::size_t d, const Interpolation& how, const Axis& axis) {
  const NodeOps of(node);
  const auto last = static_cast<double>(axis.from - 1);
  expect_few_taps(node, how, axis.scale.value());
  std::vector<std::vector<Size>> indices;
  std::vector<Known> weights, excluded;
  Known outside;
  for (std::int64_t i = 0; i < axis.to; ++i) {
    const double place = coordinate(how, axis, i);
    node.expect(std::fabs(place) < 0x1p40, "scales and regions that stay near the input",
                [&] { return std::to_string(place); });
    const Taps taps = taps_of(how, axis, place);
    indices.resize(taps.weights.size());
    weights.resize(taps.weights.size());
    excluded.resize(taps.weights.size());
    for (std::size_t k = 0; k < taps.weights.size(); ++k) {
      const double index = taps.first + static_cast<double>(k);
      indices[k].emplace_back(static_cast<std::int64_t>(std::clamp(index, 0.0, last)));
      weights[k].reals.push_back(rounded(x.type.dtype, taps.weights[k]));
      excluded[k].integers.emplace_back(how.exclude_outside && (index < 0 || index > last) ? 1 : 0);
    }
    outside.integers.emplace_back(place < 0 || place > last ? 1 : 0);
  }
  Shape shape(x.type.shape.size() - d, 1);
  shape[0] = axis.to;
  Value result;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    Value tap = of.gather(x, node.known(DType::i64, indices[k]), d);
    // A weight of 0 does not exclude an element that is infinite.
    const bool excludes = std::any_of(excluded[k].integers.begin(), excluded[k].integers.end(),
                                      [](const Size& one) { return one.constant() == 1; });
    if (excludes) tap = of.where(node.known({DType::boolean, shape}, std::move(excluded[k])), of.number(tap, 0), tap);
    if (how.mode != "nearest") tap = of.mul(tap, node.known({x.type.dtype, shape}, std::move(weights[k])));
    result = k == 0 ? tap : of.add(result, tap);
  }
  if (how.coordinates != "tf_crop_and_resize") return result;
  const Value is_outside = node.known({DType::boolean, shape}, std::move(outside));
  return of.where(is_outside, of.number(x, how.extrapolation_value), result);
}

}  // namespace ferry::graph::onnx
