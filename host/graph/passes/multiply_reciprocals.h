// Multiplies by the reciprocal of a constant where only erf reads the quotient, as in GELU:
//
//     erf(x / sqrt(2))   ->   erf(x * (1 / sqrt(2)))
//
// A vector's division takes as long as up to sixteen multiplications. The argument's relative error becomes up to 1.5
// units of rounding in place of a half, and the relative error of erf is not larger than that of its argument.
#pragma once

#include "host/graph/graph.h"

namespace ferry::graph {

Graph multiply_reciprocals(Graph graph);

}  // namespace ferry::graph
