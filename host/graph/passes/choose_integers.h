// Computes scaled products of 8-bit integers in float32 where the target takes less time for that, as where a
// convolution of 3 x 3 can use Winograd's algorithm and no instruction sums up products of bytes:
//
//     y = quantized_conv(x, w)   ->   y = conv(dequantize(x), dequantize(w)), in the same node
//
// Both have nearly the same results, and both read bytes, so the choice concerns one node alone.
#pragma once

#include "ferry/error_ratios.h"
#include "ferry/target/target.h"
#include "host/graph/graph.h"
#include "host/graph/passes/size_guess.h"

namespace ferry::graph {

// Compares the times that product_costs.h estimates; `winograd` limits the errors of Winograd's algorithm, and is null
// if it may not be used. Stands after choose_dots, which chooses how integers would be multiplied, and before
// choose_winograd.
Graph choose_integers(Graph graph, const Target& target, const ErrorRatios* winograd, const SizeGuess& guess = {});

}  // namespace ferry::graph
