// Interpolation of images, one dimension after the other: elements are gathered, and for linear interpolation two of
// them weighted.
#include <algorithm>
#include <cmath>

#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// A larger result is not interpolated one index at a time.
constexpr std::int64_t kMaxSize = 1 << 16;

struct Interpolation {
  std::string mode, coordinates, nearest;
};

// The change of one dimension.
struct Axis {
  std::int64_t from = 0, to = 0;
  double scale = 1;
};

// Returns the place in the input of an element of the result.
double coordinate(const Interpolation& how, const Axis& axis, std::int64_t i) {
  const auto at = static_cast<double>(i), from = static_cast<double>(axis.from), to = static_cast<double>(axis.to);
  if (how.coordinates == "asymmetric") return at / axis.scale;
  // The result's size before it is rounded.
  const double length = axis.scale * from;
  if (how.coordinates == "align_corners") return axis.to == 1 ? 0 : at * (from - 1) / (length - 1);
  if (how.coordinates == "pytorch_half_pixel" && axis.to == 1) return 0;
  const double half = (at + 0.5) / axis.scale - 0.5;
  if (how.coordinates != "half_pixel_symmetric") return half;
  const double adjusted = to / length;
  return from / 2 * (1 - adjusted) + half;
}

double nearest_index(const std::string& rounding, double place) {
  if (rounding == "floor") return std::floor(place);
  if (rounding == "ceil") return std::ceil(place);
  return rounding == "round_prefer_ceil" ? std::floor(place + 0.5) : std::ceil(place - 0.5);
}

Value gathered(const NodeImport& node, const Value& x, std::size_t d, const std::vector<Size>& indices) {
  return node.add(Operator::gather, {x, node.known(DType::i64, indices)}, DimensionAttributes{d});
}

Value resize_axis(const NodeImport& node, const Value& x, std::size_t d, const Interpolation& how, const Axis& axis) {
  const auto clamped = [&](double place) {
    return static_cast<std::int64_t>(std::clamp(place, 0.0, static_cast<double>(axis.from - 1)));
  };
  std::vector<Size> low, high;
  Known weights;
  for (std::int64_t i = 0; i < axis.to; ++i) {
    const double place = coordinate(how, axis, i);
    low.emplace_back(clamped(how.mode == "nearest" ? nearest_index(how.nearest, place) : std::floor(place)));
    high.emplace_back(clamped(std::floor(place) + 1));
    weights.reals.push_back(rounded(x.type.dtype, place - std::floor(place)));
  }
  const Value first = gathered(node, x, d, low);
  if (how.mode == "nearest") return first;
  Shape shape(x.type.shape.size() - d, 1);
  shape[0] = axis.to;
  const Value difference = node.add(Operator::sub, {gathered(node, x, d, high), first});
  const Value weight = node.known({x.type.dtype, shape}, std::move(weights));
  return node.add(Operator::add, {first, node.add(Operator::mul, {difference, weight})});
}

std::vector<double> known_scales(const NodeImport& node, std::size_t input) {
  const Value& value = node.input(input);
  node.expect(value.known != nullptr && value.known->integers.empty(),
              "scales that are known when the network is imported", [&] { return to_text(value.type); });
  return value.known->reals;
}

bool is_given(const NodeImport& node, std::size_t input) {
  return node.has_input(input) && element_count(node.shape(input)).constant() != 0;
}

// Resizes the axes, of which either the scales or the sizes of the result are given.
void resize(NodeImport& node, const Interpolation& how, const std::vector<std::int64_t>& axes,
            const std::vector<double>& scales, const std::vector<std::int64_t>& sizes) {
  node.expect(std::max(scales.size(), sizes.size()) == axes.size(), "a scale or a size for each axis",
              [&] { return std::to_string(std::max(scales.size(), sizes.size())); });
  Value value = node.input(0);
  node.expect(is_float(value.type.dtype) || how.mode == "nearest", "floats to interpolate",
              [&] { return dtype_name(value.type.dtype); });
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t d = node.dimension(axes[i], value.type.shape.size());
    const std::optional<std::int64_t> from = value.type.shape[d].constant();
    if (!scales.empty() ? scales[i] == 1 : from == sizes[i]) continue;
    node.expect(from.has_value() && *from > 0, "a known size of the dimensions that change",
                [&] { return to_text(value.type.shape); });
    Axis axis = {*from, scales.empty() ? sizes[i] : 0, scales.empty() ? 0 : scales[i]};
    const double to =
        scales.empty() ? static_cast<double>(sizes[i]) : std::floor(static_cast<double>(*from) * scales[i]);
    node.expect(to >= 1 && to <= kMaxSize, "results of 1 to 65536 elements in each dimension",
                [&] { return std::to_string(to); });
    axis.to = static_cast<std::int64_t>(to);
    if (scales.empty()) axis.scale = to / static_cast<double>(*from);
    value = resize_axis(node, value, d, how, axis);
  }
  node.output(0, value);
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
  if (!is_known) node.refuse(std::string("another ") + what, value);
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
    scales = known_scales(node, 1);
  }
  resize(node, how, all_axes(node), scales, {});
}

void import_resize(NodeImport& node) {
  const bool is_first = node.opset() < 11;
  const Interpolation how = {node.text("mode", "nearest"),
                             node.text("coordinate_transformation_mode", is_first ? "asymmetric" : "half_pixel"),
                             node.text("nearest_mode", is_first ? "floor" : "round_prefer_floor")};
  expect_one_of(node, "mode", how.mode, {"nearest", "linear"});
  expect_one_of(node, "coordinate_transformation_mode", how.coordinates,
                {"asymmetric", "align_corners", "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"});
  expect_one_of(node, "nearest_mode", how.nearest, {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"});
  expect_one_of(node, "keep_aspect_ratio_policy", node.text("keep_aspect_ratio_policy", "stretch"), {"stretch"});
  node.expect(!node.flag("antialias", false), "no antialias", [] { return "antialias"; });
  node.ignore({"cubic_coeff_a", "exclude_outside", "extrapolation_value"});  // of other modes
  const std::vector<std::int64_t> axes = node.integers("axes", all_axes(node));
  if (is_first) return resize(node, how, axes, known_scales(node, 1), {});
  if (is_given(node, 2)) return resize(node, how, axes, known_scales(node, 2), {});
  resize(node, how, axes, {}, node.numbers(3, "the sizes"));
}

}  // namespace ferry::graph::onnx
