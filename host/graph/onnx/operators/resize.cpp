// Interpolation of images, one dimension after the other.
#include <algorithm>
#include <cmath>
#include <utility>

#include "host/graph/onnx/interpolation.h"
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// A larger result is not interpolated one index at a time.
constexpr std::int64_t kMaxSize = 1 << 16;

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

// A scale of which a part depends on sizes.
struct OpenScale {
  Size up, down;
};

// The requested size: a scale or a size for each axis, and the regions of interest, if any.
struct Extent {
  std::vector<std::int64_t> axes;
  std::vector<Scale> scales = {};
  std::vector<OpenScale> open_scales = {};
  std::vector<Size> sizes = {};
  std::string policy = "stretch";
  std::vector<double> regions = {};  // the begins of all axes, then the ends
};

// Replaces sizes by the same factor for all axes, of which some are open. Over one denominator, the least factor is the
// one with the least numerator; the greatest likewise.
void keep_open_aspect_ratio(Extent& extent, const std::vector<Size>& from) {
  std::optional<Size> up;
  Size down = 1;
  for (const Size& size : from) down = down * size;
  for (std::size_t i = 0; i < from.size(); ++i) {
    Size own = extent.sizes[i];
    for (std::size_t other = 0; other < from.size(); ++other) own = other == i ? own : own * from[other];
    up = !up ? own : extent.policy == "not_larger" ? min(*up, own) : max(*up, own);
  }
  for (std::size_t i = 0; i < from.size(); ++i) extent.sizes[i] = floor_divide(*up * from[i] * 2 + down, down * 2);
  extent.open_scales.assign(from.size(), {*up, down});
}

// Replaces sizes by the same factor for all axes, if the image is to keep its aspect ratio.
void keep_aspect_ratio(const NodeImport& node, Extent& extent) {
  if (extent.policy == "stretch" || extent.sizes.empty()) return;
  std::optional<Scale> factor;
  std::vector<Size> sizes;
  std::vector<double> from;
  bool is_open = false;
  for (std::size_t i = 0; i < extent.axes.size(); ++i) {
    const Size& size = node.shape(0)[node.dimension(extent.axes[i], node.shape(0).size())];
    sizes.push_back(size);
    is_open = is_open || !size.constant() || !extent.sizes[i].constant();
    node.expect(!proves_less(size, 1), "dimensions of 1 or more that change", [&] { return to_text(node.shape(0)); });
  }
  if (is_open) return keep_open_aspect_ratio(extent, sizes);
  for (std::size_t i = 0; i < extent.axes.size(); ++i) {
    from.push_back(static_cast<double>(*sizes[i].constant()));
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

// Returns how an axis changes of which the size before or after is open.
OpenAxis open_axis(const NodeImport& node, const Extent& extent, std::size_t i, const Size& from) {
  OpenAxis axis = {from, from, 1, 1};
  if (!extent.open_scales.empty()) {
    axis.up = extent.open_scales[i].up, axis.down = extent.open_scales[i].down;
  } else if (!extent.scales.empty()) {
    const auto [up, down] = extent.scales[i];
    node.expect(up == std::floor(up) && up >= 1 && up < 0x1p31 && down < 0x1p31,
                "scales of open dimensions that are fractions of small numbers",
                [&] { return std::to_string(up / down); });
    axis.up = static_cast<std::int64_t>(up), axis.down = static_cast<std::int64_t>(down);
  } else {
    axis.up = extent.sizes[i], axis.down = from;
  }
  axis.to = extent.sizes.empty() ? floor_divide(from * axis.up, axis.down) : extent.sizes[i];
  node.expect(!proves_less(axis.to, 1), "results of 1 or more elements in each dimension",
              [&] { return to_text(axis.to); });
  return axis;
}

// Whether the axis stays as it is, apart from regions of interest. A size that is open may.
bool keeps_size(const Extent& extent, std::size_t i, const Size& from) {
  if (!extent.sizes.empty()) return from == extent.sizes[i];
  if (!extent.open_scales.empty()) return extent.open_scales[i].up == extent.open_scales[i].down;
  return extent.scales[i].value() == 1;
}

void resize(NodeImport& node, const Interpolation& how, Extent extent) {
  const std::size_t count = std::max({extent.scales.size(), extent.open_scales.size(), extent.sizes.size()});
  node.expect(count == extent.axes.size(), "a scale or a size for each axis", [&] { return std::to_string(count); });
  Value value = node.input(0);
  // Integers are interpolated as doubles and rounded to the nearest, as ONNX's reference does; casts saturate.
  const bool interpolates_integers = how.mode != "nearest" && !is_float(value.type.dtype);
  if (interpolates_integers) value = node.cast(value, DType::f64);
  keep_aspect_ratio(node, extent);
  const auto& [axes, scales, open_scales, sizes, policy, regions] = extent;
  const bool has_regions = how.coordinates == "tf_crop_and_resize";
  node.expect(!has_regions || regions.size() == 2 * axes.size(), "a begin and an end of the region for each axis",
              [&] { return std::to_string(regions.size()); });
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = node.dimension(axes[i], value.type.shape.size());
    const Size whole = value.type.shape[d];
    const bool is_whole = !has_regions || (regions[i] == 0 && regions[i + axes.size()] == 1);
    if (is_whole && keeps_size(extent, i, whole)) continue;
    const std::optional<std::int64_t> from = whole.constant();
    node.expect(!from || *from > 0, "dimensions of 1 or more that change", [&] { return to_text(value.type.shape); });
    const std::optional<std::int64_t> wanted = sizes.empty() ? std::nullopt : sizes[i].constant();
    if (!from || !open_scales.empty() || (!sizes.empty() && !wanted)) {
      value = resize_axis(node, value, d, how, open_axis(node, extent, i, whole));
      continue;
    }
    Axis axis = {*from, 0, {}};
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

// Reads the scales of an input, which may depend on sizes.
void read_scales(const NodeImport& node, std::size_t input, Extent& extent) {
  const KnownRef& quotients = node.input(input).quotients;
  if (quotients == nullptr) {
    extent.scales = scales_of(known_reals(node, input));
    return;
  }
  for (const Ratio& ratio : quotients->ratios) extent.open_scales.push_back({ratio.numerator, ratio.denominator});
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
  Extent extent = {all_axes(node)};
  if (node.opset() < 9) {
    const auto* given = node.attribute("scales");
    const auto* reals = given == nullptr ? nullptr : std::get_if<std::vector<float>>(given);
    if (reals == nullptr) node.refuse("the attribute 'scales' with floats", "none");
    extent.scales = scales_of({reals->begin(), reals->end()});
  } else {
    read_scales(node, 1, extent);
  }
  resize(node, how, extent);
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
    read_scales(node, 1, extent);
  } else if (is_given(node, 2)) {
    read_scales(node, 2, extent);
  } else {
    extent.sizes = node.sizes(3, "the sizes");
  }
  resize(node, how, extent);
}

}  // namespace ferry::graph::onnx
