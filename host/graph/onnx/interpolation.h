// Interpolation along one dimension of an image: elements are gathered and weighted. Places and weights are computed
// when the network is imported, or, along a dimension of open size, in the call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "host/graph/onnx/node_import.h"

namespace ferry::graph::onnx {

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

// The change of a dimension of open size, by the factor up / down.
struct OpenAxis {
  Size from, to, up, down;
};

// Return x with the dimension d interpolated. Refuse the node where too many elements are needed for one of the result;
// the second also where their number, or a region of interest, is not known.
Value resize_axis(const NodeImport& node, const Value& x, std::size_t d, const Interpolation& how, const Axis& axis);
Value resize_axis(const NodeImport& node, const Value& x, std::size_t d, const Interpolation& how, OpenAxis axis);

// Refuses the node where antialias needs more elements for one of the result than a kernel should read.
void expect_few_taps(const NodeImport& node, const Interpolation& how, double scale);

}  // namespace ferry::graph::onnx
