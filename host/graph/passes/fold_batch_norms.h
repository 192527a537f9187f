// Folds batch normalisations into the convolution or product before them:
//
//     batch_norm(conv(x, w, b), scale, bias, mean, variance)   ->   conv(x, w * s, (b - mean) * s + bias)
//
// with s = scale / sqrt(variance + epsilon) for each channel, computed in double precision and rounded once. The same
// for a product with a matrix of constants, [M, K] times [K, N].
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

// All operands but the first must be constants, and nothing else may read what is normalised.
Graph fold_batch_norms(Graph graph);

}  // namespace ferry::graph
