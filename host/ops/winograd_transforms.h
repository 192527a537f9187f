// The one-dimensional transforms of Winograd convolution F(m, 3), as sums that share their common terms.
//
// At the points p_i and infinity, row i of G is (1, p_i, p_i^2) / N_i with N_i = prod over j != i of (p_i - p_j), row i
// of B^T holds the coefficients of prod over j != i of (x - p_j), and column i of A^T is (1, p_i, p_i^2, ...). The rows
// and the column of infinity are those of the highest power.
//
//     F(2, 3)           B^T                          F(4, 3)         B^T
//      0    -1   0   1   0    (times -1)              0       1  -3/2    -2   3/2   1   0
//      1     0   1   1   0                            1       0    -1   1/2   5/2   1   0
//     -1     0  -1   1   0                           -1       0     1  -5/2   1/2   1   0
//     inf    0  -1   0   1                            1/2     0    -2    -1     2   1   0
//                                                    -2       0   1/2    -1  -1/2   1   0
//                                                    inf      0     1  -3/2    -2 3/2   1
#pragma once

#include "ferry/lang/tensor.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ferry::ops {

// Returns the element at a position.
using Elements = std::function<lang::Expr(std::int64_t position)>;

// G w: m + 2 values from 3 weights.
std::vector<lang::Expr> transform_weights(std::int64_t tile, const Elements& w);
// B^T d: m + 2 values from m + 2 inputs.
std::vector<lang::Expr> transform_input(std::int64_t tile, const Elements& d);
// A^T p: m results from m + 2 products.
std::vector<lang::Expr> transform_products(std::int64_t tile, const Elements& p);

}  // namespace ferry::ops
