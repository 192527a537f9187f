// Interpolation of images, one dimension after the other: elements are gathered and weighted.
#include <algorithm>
#include <cmath>
#include <utility>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// A larger result is not interpolated one index at a time.
constexpr std::int64_t kMaxSize = 1 << 16;
// Elements that one of the result depends on. More are needed where antialias shrinks images to less than 1/16.
constexpr double kMaxTaps = 64;

struct Interpolation {
  std::string mode, coordinates, nearest;
  double cubic_coefficient = -0.75;
  bool antialias = false, exclude_outside = false;
  double extrapolation_value = 0;
};

// A factor between sizes as two numbers that are exact: two sizes, or the fraction that a float stands for.
struct Scale {
  double numerator = 1, denominator = 1;
  double value() const { return numerator / denominator; }
};

// The change of one dimension.
struct Axis {
  std::int64_t from = 0, to = 0;
  Scale scale;
  double begin = 0, end = 1;  // the region of interest
};

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

Value resize_axis(const NodeImport& node, const Value& x, std::size_t d, const Interpolation& how, const Axis& axis) {
  const NodeOps of(node);
  const auto last = static_cast<double>(axis.from - 1);
  // Images that shrink by this are smoothed by twice as many elements, and by four times as many for cubic weights.
  node.expect(!how.antialias || axis.scale.value() * kMaxTaps >= (how.mode == "linear" ? 2 : 4),
              "antialias of at most 64 elements for one of the result",
              [&] { return "a scale of " + std::to_string(axis.scale.value()); });
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

// Returns the first fraction of the number's continued fraction that has this float32: exporters write 4/3 as
// 1.33333337, and mean that element 4 of the result lies on element 3.
Scale fraction_of(double factor) {
  constexpr double kMost = 1 << 24;
  Scale before = {0, 1}, fraction = {1, 0};
  for (double rest = factor; std::isfinite(rest) && rest < kMost;) {
    const double whole = std::floor(rest);
    fraction = {whole * fraction.numerator + std::exchange(before.numerator, fraction.numerator),
                whole * fraction.denominator + std::exchange(before.denominator, fraction.denominator)};
    if (fraction.numerator >= kMost || fraction.denominator >= kMost) break;
    if (static_cast<float>(fraction.value()) == static_cast<float>(factor)) return fraction;
    rest = 1 / (rest - whole);
  }
  return {factor, 1};
}

std::vector<Scale> scales_of(const std::vector<double>& factors) {
  std::vector<Scale> scales;
  for (const double factor : factors) scales.push_back(fraction_of(factor));
  return scales;
}

std::vector<double> known_reals(const NodeImport& node, std::size_t input) {
  const Value& value = node.input(input);
  node.expect(value.known != nullptr && value.known->integers.empty(),
              "scales that are known when the network is imported", [&] { return to_text(value.type); });
  return value.known->reals;
}

bool is_given(const NodeImport& node, std::size_t input) {
  return node.has_input(input) && element_count(node.shape(input)).constant() != 0;
}

// The requested size: a scale or a size for each axis, and the regions of interest, if any.
struct Extent {
  std::vector<std::int64_t> axes;
  std::vector<Scale> scales = {};
  std::vector<Size> sizes = {};
  std::string policy = "stretch";
  std::vector<double> regions = {};  // the begins of all axes, then the ends
};

// Replaces sizes by the same factor for all axes, if the image is to keep its aspect ratio.
void keep_aspect_ratio(const NodeImport& node, Extent& extent) {
  if (extent.policy == "stretch" || extent.sizes.empty()) return;
  std::optional<Scale> factor;
  std::vector<double> from;
  for (std::size_t i = 0; i < extent.axes.size(); ++i) {
    const Size& size = node.shape(0)[node.dimension(extent.axes[i], node.shape(0).size())];
    node.expect(size.constant().has_value() && *size.constant() > 0, "a known size of the dimensions that change",
                [&] { return to_text(node.shape(0)); });
    from.push_back(static_cast<double>(*size.constant()));
    node.expect(extent.sizes[i].constant().has_value(), "sizes as numbers", [&] { return to_text(extent.sizes[i]); });
    const Scale own = {static_cast<double>(*extent.sizes[i].constant()), from[i]};
    const bool is_better =
        !factor || (extent.policy == "not_larger" ? own.value() < factor->value() : own.value() > factor->value());
    if (is_better) factor = own;
  }
  for (std::size_t i = 0; i < extent.axes.size(); ++i) {
    const auto [up, down] = *factor;
    const double rounded = std::floor((2 * std::min(up * from[i], 0x1p52) + down) / (2 * down));
    extent.sizes[i] = static_cast<std::int64_t>(std::min(rounded, 0x1p40));
  }
  extent.scales.assign(extent.axes.size(), *factor);
}

void resize(NodeImport& node, const Interpolation& how, Extent extent) {
  const std::size_t count = std::max(extent.scales.size(), extent.sizes.size());
  node.expect(count == extent.axes.size(), "a scale or a size for each axis", [&] { return std::to_string(count); });
  Value value = node.input(0);
  // Integers are interpolated as doubles and rounded to the nearest, as ONNX's reference does; casts saturate.
  const bool interpolates_integers = how.mode != "nearest" && !is_float(value.type.dtype);
  if (interpolates_integers) value = node.cast(value, DType::f64);
  keep_aspect_ratio(node, extent);
  const auto& [axes, scales, sizes, policy, regions] = extent;
  const bool has_regions = how.coordinates == "tf_crop_and_resize";
  node.expect(!has_regions || regions.size() == 2 * axes.size(), "a begin and an end of the region for each axis",
              [&] { return std::to_string(regions.size()); });
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = node.dimension(axes[i], value.type.shape.size());
    const std::optional<std::int64_t> from = value.type.shape[d].constant();
    const bool is_whole = !has_regions || (regions[i] == 0 && regions[i + axes.size()] == 1);
    // A size that is open may stay as it is.
    if (is_whole && (sizes.empty() ? scales[i].value() == 1 : value.type.shape[d] == sizes[i])) continue;
    node.expect(from.has_value() && *from > 0, "a known size of the dimensions that change",
                [&] { return to_text(value.type.shape); });
    Axis axis = {*from, 0, {}};
    const std::optional<std::int64_t> wanted = sizes.empty() ? std::nullopt : sizes[i].constant();
    node.expect(sizes.empty() || wanted.has_value(), "sizes as numbers", [&] { return to_text(sizes[i]); });
    // ONNX's shape inference multiplies in float32: 10 times 0.7f is 7 there, and less as a double.
    const double to = wanted ? static_cast<double>(*wanted)
                             : std::floor(static_cast<float>(*from) * static_cast<float>(scales[i].value()));
    node.expect(to >= 1 && to <= kMaxSize, "results of 1 to 65536 elements in each dimension",
                [&] { return std::to_string(to); });
    axis.to = static_cast<std::int64_t>(to);
    axis.scale = scales.empty() ? Scale{to, static_cast<double>(*from)} : scales[i];
    if (has_regions) {
      axis.begin = regions[i];
      axis.end = regions[i + axes.size()];
    }
    value = resize_axis(node, value, d, how, axis);
  }
  node.output(0, interpolates_integers ? node.cast(NodeOps(node).round(value), node.input(0).type.dtype) : value);
}

std::vector<std::int64_t> all_axes(const NodeImport& node) {
  std::vector<std::int64_t> axes;
  for (std::size_t d = 0; d < node.shape(0).size(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  return axes;
}

void expect_one_of(const NodeImport& node, const char* what, const std::string& value,
                   std::initializer_list<const char*> choices) {
  const bool is_known =
      std::any_of(choices.begin(), choices.end(), [&](const char* choice) { return value == choice; });
  std::string all;
  for (const char* choice : choices) all += (all.empty() ? "" : ", ") + std::string(choice);
  if (!is_known) node.refuse(std::string(what) + " to be one of " + all, value);
}

}  // namespace

void import_upsample(NodeImport& node) {
  const Interpolation how = {node.text("mode", "nearest"), "asymmetric", "floor"};
  expect_one_of(node, "mode", how.mode, {"nearest", "linear"});
  std::vector<double> scales;
  if (node.opset() < 9) {
    const auto* given = node.attribute("scales");
    const auto* reals = given == nullptr ? nullptr : std::get_if<std::vector<float>>(given);
    if (reals == nullptr) node.refuse("the attribute 'scales' with floats", "none");
    scales.assign(reals->begin(), reals->end());
  } else {
    scales = known_reals(node, 1);
  }
  resize(node, how, {all_axes(node), scales_of(scales)});
}

void import_resize(NodeImport& node) {
  const bool is_first = node.opset() < 11;
  Interpolation how = {node.text("mode", "nearest"),
                       node.text("coordinate_transformation_mode", is_first ? "asymmetric" : "half_pixel"),
                       node.text("nearest_mode", is_first ? "floor" : "round_prefer_floor")};
  expect_one_of(node, "mode", how.mode, {"nearest", "linear", "cubic"});
  expect_one_of(node, "coordinate_transformation_mode", how.coordinates,
                {"asymmetric", "align_corners", "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric",
                 "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  expect_one_of(node, "nearest_mode", how.nearest, {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"});
  how.cubic_coefficient = node.real("cubic_coeff_a", -0.75);
  how.antialias = node.flag("antialias", false);
  how.exclude_outside = node.flag("exclude_outside", false);
  how.extrapolation_value = node.real("extrapolation_value", 0);
  Extent extent = {node.integers("axes", all_axes(node))};
  extent.policy = node.text("keep_aspect_ratio_policy", "stretch");
  expect_one_of(node, "keep_aspect_ratio_policy", extent.policy, {"stretch", "not_larger", "not_smaller"});
  if (how.coordinates == "tf_crop_and_resize") extent.regions = known_reals(node, 1);
  if (is_first) {
    extent.scales = scales_of(known_reals(node, 1));
  } else if (is_given(node, 2)) {
    extent.scales = scales_of(known_reals(node, 2));
  } else {
    extent.sizes = node.sizes(3, "the sizes");
  }
  resize(node, how, extent);
}

}  // namespace ferry::graph::onnx
