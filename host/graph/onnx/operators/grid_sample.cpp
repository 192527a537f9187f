// Images sampled at places that the network computes.
#include <algorithm>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

struct Sampling {
  std::string mode, padding;
  bool align_corners = false;
};

// Elements along one dimension that a sample depends on, with their weights.
struct Tap {
  Value index;                     // int64, in bounds
  std::optional<Value> weight;     // nothing: 1
  std::optional<Value> is_inside;  // elsewhere the element counts as 0, whatever stands at the index; nothing: always
};

class GridSample {
 public:
  GridSample(NodeImport& node, Sampling how) : node_(node), of_(node), how_(std::move(how)) {}

  void run() {
    const Value &x = node_.input(0), &grid = node_.input(1);
    const Shape &shape = x.type.shape, &places = grid.type.shape;
    const std::size_t spatial = shape.size() - 2;
    node_.expect(shape.size() >= 3 && places.size() == shape.size() &&
                     places.back().constant() == static_cast<std::int64_t>(spatial),
                 "a grid of coordinates for each spatial dimension",
                 [&] { return to_text(places) + " for " + to_text(shape); });
    Shape result = {shape[0], shape[1]};
    result.insert(result.end(), places.begin() + 1, places.end() - 1);
    const Size samples = element_count(Shape(places.begin() + 1, places.end() - 1));
    const Value coordinates = of_.widened(of_.reshape(grid, {shape[0], samples, places.back()}));
    Size elements = 1;
    std::vector<std::vector<Tap>> taps;
    for (std::size_t d = 0; d < spatial; ++d) {
      const Size& size = shape[d + 2];
      node_.expect(size.constant() != 0, "images of 1 or more elements", [&] { return to_text(shape); });
      elements = elements * size;
      // The last coordinate is that of the first spatial dimension.
      const Value one = of_.slice(coordinates, 2, static_cast<std::int64_t>(spatial - 1 - d), 1);
      taps.push_back(
          taps_of(of_.reshape(one, {shape[0], 1, samples}), node_.cast(of_.size(size), coordinates.type.dtype)));
    }
    image_ = of_.reshape(x, {shape[0], shape[1], elements});
    std::optional<Value> sum;
    add_samples(taps, {}, sum);
    node_.output(0, of_.reshape(node_.cast(*sum, x.type.dtype), result));
  }

 private:
  // Adds the samples for all combinations of taps that begin with those.
  void add_samples(const std::vector<std::vector<Tap>>& taps, std::vector<Tap> chosen, std::optional<Value>& sum) {
    if (chosen.size() < taps.size()) {
      chosen.emplace_back();
      for (const Tap& tap : taps[chosen.size() - 1]) {
        chosen.back() = tap;
        add_samples(taps, chosen, sum);
      }
      return;
    }
    Value index = chosen[0].index;
    std::optional<Value> weight, is_inside;
    for (std::size_t d = 0; d < chosen.size(); ++d) {
      if (d > 0) index = of_.add(of_.mul(index, of_.size(node_.shape(0)[d + 2])), chosen[d].index);
      if (chosen[d].weight) weight = weight ? of_.mul(*weight, *chosen[d].weight) : *chosen[d].weight;
      if (chosen[d].is_inside)
        is_inside = is_inside ? of_.logical_and(*is_inside, *chosen[d].is_inside) : *chosen[d].is_inside;
    }
    Value sample = of_.widened(of_.gather_elements(image_, index, 2));
    if (is_inside) sample = of_.where(*is_inside, sample, of_.number(sample, 0));
    if (weight) sample = of_.mul(sample, node_.cast(*weight, sample.type.dtype));
    sum = sum ? of_.add(*sum, sample) : sample;
  }

  // Sizes are floats of the coordinates' type: numbers, or computed in the call.
  Value last(const Value& size) const { return of_.sub(size, 1); }
  Value clamped(const Value& x, const Value& low, const Value& high) const {
    return of_.minimum(of_.maximum(x, low), high);
  }

  // Reflects places at the borders until they are inside.
  Value reflected(const Value& x, double low, const Value& span) const {
    const Value distance = of_.abs(of_.sub(x, low));
    const Value rest = of_.modulo(distance, of_.mul(span, 2));
    const Value inside = of_.minimum(rest, of_.sub(of_.mul(span, 2), rest));
    return of_.add(inside, low);
  }

  Value bounded(const Value& x, const Value& size) const {
    if (how_.padding == "border") return clamped(x, of_.number(x, 0), last(size));
    if (how_.padding == "zeros") return x;
    if (!how_.align_corners) return reflected(x, -0.5, size);
    // The centers of the first and the last element are one place where there is one element.
    return of_.where(of_.less(1, size), reflected(x, 0, last(size)), of_.number(x, 0));
  }

  // An element at an integral place.
  Tap tap_at(const Value& place, const std::optional<Value>& weight, const Value& size) const {
    const Value inside =
        clamped(how_.padding == "reflection" ? bounded(place, size) : place, of_.number(place, 0), last(size));
    Tap tap = {node_.cast(how_.padding == "reflection" ? of_.round(inside) : inside, DType::i64), weight, {}};
    // A linear interpolation between elements that are inside gives none that is outside any weight.
    const bool is_within = how_.mode == "linear" && how_.padding == "reflection" && how_.align_corners;
    if (how_.padding == "zeros" || is_within)
      tap.is_inside = of_.logical_and(of_.less_equal(0, place), of_.less_equal(place, last(size)));
    return tap;
  }

  std::vector<Tap> taps_of(const Value& coordinate, const Value& size) const {
    // From [-1, 1] to the centers of the first and the last element, or to their outer borders.
    const Value raw = how_.align_corners ? of_.mul(of_.add(coordinate, 1), of_.div(last(size), 2))
                                         : of_.div(of_.sub(of_.mul(of_.add(coordinate, 1), size), 1), 2);
    if (how_.mode == "nearest") return {tap_at(bounded(of_.round(raw), size), {}, size)};
    // Interpolations continue the image beyond its border: three elements from it on, a cubic one has only elements of
    // one value, and half an element from it on, a linear one has two, of which none is multiplied by 0.
    const bool is_cubic = how_.mode == "cubic";
    const double beyond = is_cubic ? 3 : 0.5;
    const Value place = how_.padding == "border" ? clamped(raw, of_.number(raw, -beyond), of_.add(last(size), beyond))
                                                 : bounded(raw, size);
    const Value below = of_.floor(place), rest = of_.sub(place, below);
    if (!is_cubic) {
      return {tap_at(below, of_.sub(1, rest), size), tap_at(of_.add(below, 1), rest, size)};
    }
    std::vector<Tap> taps;
    for (const double offset : {-1, 0, 1, 2}) {
      const Value distance = of_.abs(of_.sub(rest, offset));
      taps.push_back(tap_at(of_.add(below, offset), cubic(distance, offset == 0 || offset == 1), size));
    }
    return taps;
  }

  // The weight of an element at a distance up to 1, or from 1 to 2.
  Value cubic(const Value& x, bool is_near) const {
    constexpr double kA = -0.75;
    if (is_near) return of_.add(of_.mul(of_.mul(of_.sub(of_.mul(x, kA + 2), kA + 3), x), x), 1);
    return of_.sub(of_.mul(of_.add(of_.mul(of_.sub(of_.mul(x, kA), 5 * kA), x), 8 * kA), x), 4 * kA);
  }

  NodeImport& node_;
  NodeOps of_;
  Sampling how_;
  Value image_;
};

}  // namespace

void import_grid_sample(NodeImport& node) {
  std::string mode = node.text("mode", node.opset() < 20 ? "bilinear" : "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  const std::string padding = node.text("padding_mode", "zeros");
  node.expect(mode == "nearest" || mode == "linear" || mode == "cubic", "the mode nearest, linear or cubic",
              [&] { return mode; });
  node.expect(padding == "zeros" || padding == "border" || padding == "reflection",
              "padding by zeros, border or reflection", [&] { return padding; });
  node.expect(node.shape(0).size() >= 3 && node.shape(0).size() <= 5, "images of 1 to 3 dimensions",
              [&] { return to_text(node.shape(0)); });
  GridSample(node, {mode, padding, node.flag("align_corners", false)}).run();
}

// The places of a grid of elements after an affine map.
void import_affine_grid(NodeImport& node) {
  const NodeOps of(node);
  const Value& theta = node.input(0);
  const Shape size = node.sizes(1, "the size");
  const std::size_t spatial = size.size() - 2;
  node.expect(size.size() == 4 || size.size() == 5, "the size of images of 2 or 3 dimensions",
              [&] { return std::to_string(size.size()); });
  const bool align_corners = node.flag("align_corners", false);
  Shape places(size.begin() + 2, size.end());
  for (const Size& one : places) {
    node.expect(proves_less(0, one), "sizes of 1 or more", [&] { return to_text(one); });
  }
  Shape shape = places;
  shape.push_back(1);
  std::vector<Value> coordinates;
  for (std::size_t d = spatial; d-- > 0;) {
    const auto number = [&](const Size& one) { return node.cast(of.size(one), theta.type.dtype); };
    const Value at = node.cast(of.iota(places[d], d, spatial + 1), theta.type.dtype);
    const Value mapped = align_corners ? of.sub(of.div(of.mul(at, 2), number(max(places[d] - 1, 1))), 1)
                                       : of.sub(of.div(of.add(of.mul(at, 2), 1), number(places[d])), 1);
    coordinates.push_back(of.broadcast(mapped, shape));
  }
  coordinates.push_back(of.filled({theta.type.dtype, shape}, 1));
  const Value points =
      of.reshape(of.concat(coordinates, spatial), {element_count(places), static_cast<std::int64_t>(spatial + 1)});
  const Value moved = of.matmul(points, theta, {false, true});
  Shape result = {size[0]};
  result.insert(result.end(), places.begin(), places.end());
  result.push_back(static_cast<std::int64_t>(spatial));
  node.output(0, of.reshape(moved, result));
}

}  // namespace ferry::graph::onnx
