// A network of 8-bit integers with scales, small enough for emulators.
#pragma once

#include "host/graph/graph.h"

namespace ferry::test {

// Convolutions and a product of dequantized bytes, quantized again, with a residual, as ONNX's QDQ format writes them.
// The numbers of channels are odd, and padding stands for zero points other than 0.
graph::Graph quantized_network(const graph::Size& batch);

}  // namespace ferry::test
