// Turns convolutions and products of 8-bit integers into ones that sum up products of the integers, with weights that
// are constant:
//
//     conv((cast(x) - zero) * s, (cast(w) - v) * t, bias)   ->   add(quantized_conv(x, w - v, s, t, zero), bias)
//     conv(cast(x) - zero, cast(w) - v)                     ->   quantized_conv(x, w - v, zero)
//
// where x has one scale and zero point, and w one or one for each filter. The first form is that of dequantized
// integers, in float32; the second, in int32, that of ONNX's operators on integers. Differences w - v that int8 does
// not hold are int16. Products with such a matrix change alike. Others stay, as do sums that could overflow int32. The
// sums are exact and rounded once when they are scaled, and so differ from those of a definition in float32 by the
// rounding errors of its terms.
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

// Stands before the choice of layouts and groups: bias, residual, activation and quantization are elementwise nodes
// that join the group of the product.
Graph quantize_products(Graph graph);

}  // namespace ferry::graph
