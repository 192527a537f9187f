// Moves activations of bytes by 128 into the type that the target's products take, once and where they are written,
// instead of wherever a product reads them:
//
//     x = cast<u8>(...)                          x = cast<i8>(cast<i16>(cast<u8>(...)) - 128)
//     y = quantized_conv(x, zero)         ->     y = quantized_conv(x, zero - 128)
//     z = cast<f32>(x)                           z = cast<f32>(cast<u8>(cast<i16>(x) + 128))
#pragma once

#include "ferry/target/target.h"
#include "host/graph/graph.h"

namespace ferry::graph {

// Stands after quantize_products, which makes the products, and pool_integers: what pools read, and the network's
// inputs and outputs, keep their types. Stands after repeat_dequantization, so that each conversion is part of the
// group of what reads it.
Graph choose_bytes(const Graph& graph, const Target& target);

}  // namespace ferry::graph
