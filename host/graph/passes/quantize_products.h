// Turns convolutions and products of dequantized 8-bit integers into ones that sum up products of the integers:
//
//     conv((cast(x) - zero) * s, cast(w) * t, bias)   ->   add(quantized_conv(x, w, s, t, zero), bias)
//
// where x has one scale and zero point, and w, a constant of int8 with zero point 0, one scale or one for each filter.
// Products with such a matrix change alike. Others stay: sums that could overflow int32, and weights with
// other zero points. The sums are exact and rounded once when they are scaled, and so differ from those of the
// definition by the rounding errors of its terms.
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

// Stands before the choice of layouts and groups: bias, residual, activation and quantization are elementwise nodes
// that join the group of the product.
Graph quantize_products(Graph graph);

}  // namespace ferry::graph
