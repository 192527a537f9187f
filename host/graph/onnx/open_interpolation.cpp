// Interpolation along a dimension of open size.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "host/graph/onnx/interpolation.h"
#include "host/graph/onnx/node_ops.h"

namespace ferry::graph::onnx {
namespace {

// Cancels what both numbers of the factor have in common.
void reduce(OpenAxis& axis) {
  if (const std::optional<Size> whole = divide_exactly(axis.up, axis.down)) {
    axis.up = *whole, axis.down = 1;
  } else if (const std::optional<Size> part = divide_exactly(axis.down, axis.up)) {
    axis.up = 1, axis.down = *part;
  }
}

// The places of the result's elements in the input as quotients of integers, which rounding never moves to the other
// side of an element. All are above -1.
struct Places {
  Value numerator;
  Size denominator;
};

Places places_of(const NodeImport& node, const Interpolation& how, const OpenAxis& axis) {
  const NodeOps of(node);
  const auto& [from, to, up, down] = axis;
  // Element i stands at (i * step + first) / denominator.
  const auto line = [&](const Size& step, const Size& first, const Size& denominator) {
    return Places{of.add(of.mul(of.iota(to), of.size(step)), of.size(first)), denominator};
  };
  if (how.coordinates == "asymmetric") return line(down, 0, up);
  if (how.coordinates == "tf_half_pixel_for_nn") return line(down * 2, down, up * 2);
  if (how.coordinates == "align_corners") {
    // The result's size before it is rounded, less 1.
    const std::optional<Size> length = divide_exactly(up * from, down);
    if (length) return line(from - 1, 0, max(*length - 1, 1));
    return line((from - 1) * down, 0, max(up * from - down, 1));
  }
  if (how.coordinates == "half_pixel_symmetric") return line(down * 2, (Size(1) - to) * down + (from - 1) * up, up * 2);
  const Size is_several = how.coordinates == "pytorch_half_pixel" ? min(to - 1, 1) : Size(1);
  return line(down * 2, (down - up) * is_several, up * 2);
}

// Returns a / b rounded up of integers; a is above -b.
Value rounded_up(const NodeOps& of, const Value& a, const Size& b) {
  return of.div(of.add(a, of.size(b - 1)), of.size(b));
}

// Returns the nearest element, or -1 or 0 where the first is meant.
Value nearest_index(const NodeOps& of, const std::string& rounding, const Places& places) {
  const auto& [numerator, denominator] = places;
  if (rounding == "floor") return of.div(of.maximum(numerator, 0), of.size(denominator));
  if (rounding == "ceil") return rounded_up(of, numerator, denominator);
  const Value twice = of.mul(numerator, 2);
  if (rounding == "round_prefer_ceil") return of.div(of.add(twice, of.size(denominator)), of.size(denominator * 2));
  return rounded_up(of, of.sub(twice, of.size(denominator)), denominator * 2);
}

// Returns the weights of elements at these distances, as for known sizes (interpolation.cpp).
Value weight_at(const NodeOps& of, const Interpolation& how, const Value& x) {
  if (how.mode == "linear") return of.maximum(of.sub(1, x), 0);
  const double a = how.cubic_coefficient;
  const Value near = of.add(of.mul(of.mul(of.sub(of.mul(x, a + 2), a + 3), x), x), 1);
  const Value far = of.sub(of.mul(of.add(of.mul(of.sub(of.mul(x, a), 5 * a), x), 8 * a), x), 4 * a);
  return of.where(of.less_equal(x, 1), near, of.where(of.less(x, 2), far, of.number(x, 0)));
}

struct Tap {
  Value index;   // may be outside of the input
  Value weight;  // float32, or float64 where the input is
};

std::vector<Tap> taps_of(const NodeImport& node, const Interpolation& how, const OpenAxis& axis, const Places& places,
                         DType type) {
  const NodeOps of(node);
  const Value below = of.sub(rounded_up(of, places.numerator, places.denominator), 1);
  const Value rest =
      node.cast(of.sub(places.numerator, of.mul(below, of.size(places.denominator))), type);  // 1 to the denominator
  const Value whole = node.cast(of.size(places.denominator), type);
  if (how.mode == "linear" && !how.antialias) {
    return {{below, of.div(of.sub(whole, rest), whole)}, {of.add(below, 1), of.div(rest, whole)}};
  }
  double narrow = 1;
  if (how.antialias) {
    const auto up = axis.up.constant(), down = axis.down.constant();
    node.expect(up && down, "a factor of the size that is known when the network is imported, because antialias is set",
                [&] { return to_text(axis.up) + " / " + to_text(axis.down); });
    const double scale = static_cast<double>(*up) / static_cast<double>(*down);
    expect_few_taps(node, how, scale);
    narrow = std::min(scale, 1.0);
  }
  const Value place = of.div(rest, whole);
  const double reach = how.mode == "linear" ? 1 : 2, start = std::floor(-reach / narrow) + 1;
  std::vector<Tap> taps;
  for (double offset = start; offset < start + 2 - 2 * start; ++offset) {
    const Value distance = of.abs(of.sub(place, offset));
    taps.push_back({of.add(below, offset), weight_at(of, how, narrow == 1 ? distance : of.mul(distance, narrow))});
  }
  return taps;
}

// Replaces the weights of elements that are not there by 0, and makes the sum of all 1.
void normalize(const NodeImport& node, const Interpolation& how, const Value& last, std::vector<Tap>& taps) {
  const NodeOps of(node);
  if (!how.antialias && !how.exclude_outside) return;
  std::optional<Value> sum;
  for (auto& [index, weight] : taps) {
    const Value is_inside = of.logical_and(of.less_equal(0, index), of.less_equal(index, last));
    if (how.exclude_outside) weight = of.where(is_inside, weight, of.number(weight, 0));
    sum = sum ? of.add(*sum, weight) : weight;
  }
  for (Tap& tap : taps) tap.weight = of.div(tap.weight, *sum);
}

}  // namespace

Value resize_axis(const NodeImport& node, const Value& x, std::size_t d, const Interpolation& how, OpenAxis axis) {
  const NodeOps of(node);
  reduce(axis);
  node.expect(how.coordinates != "tf_crop_and_resize", "a known size of the dimensions that change",
              [&] { return to_text(x.type.shape); });
  const Places places = places_of(node, how, axis);
  const Value last = of.size(axis.from - 1);
  const auto element = [&](const Value& index) { return of.gather(x, of.minimum(of.maximum(index, 0), last), d); };
  if (how.mode == "nearest") return element(nearest_index(of, how.nearest, places));
  std::vector<Tap> taps = taps_of(node, how, axis, places, x.type.dtype == DType::f64 ? DType::f64 : DType::f32);
  normalize(node, how, last, taps);
  Shape shape(x.type.shape.size() - d, 1);
  shape[0] = axis.to;
  std::optional<Value> result;
  for (const auto& [index, weight] : taps) {
    Value tap = element(index);
    // A weight of 0 does not exclude an element that is infinite.
    if (how.exclude_outside) {
      const Value is_inside = of.logical_and(of.less_equal(0, index), of.less_equal(index, last));
      tap = of.where(of.reshape(is_inside, shape), tap, of.number(tap, 0));
    }
    tap = of.mul(tap, of.reshape(node.cast(weight, x.type.dtype), shape));
    result = result ? of.add(*result, tap) : tap;
  }
  return *result;
}

}  // namespace ferry::graph::onnx
