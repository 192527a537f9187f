// The greatest or the least elements of lines.
#pragma once

#include "ferry/lang/tensor.h"

#include <cstdint>
#include <string>

namespace ferry::ops {

using lang::Expr;
using lang::Tensor;

// Maximum number of elements of a line.
inline constexpr std::int64_t kMaxSortedSize = std::int64_t{1} << 31;

// Returns the int64 indices of the `count` greatest elements of each line along the last dimension, in descending
// order, or of the least ones in ascending order. Of equal elements the one with the lower index stands first; NaN
// counts as the greatest. The dimension has a constant size of at least `count`, which is at least 1, and at most 2^31
// elements; x has at most five dimensions.
//
// Up to 16 elements are found one after the other, each by a maximum over the line of what stands after the one before.
// More are found by bitonic sorting networks on (element, index): the line becomes columns of `count` elements, rounded
// up to a power of two; the columns are sorted; and then pairs of columns are merged, of which the first half is kept,
// until one is left. Lines that are much longer than `count` are first divided into groups: all elements that are
// sought are in the groups that have the first `count` of the greatest elements of the groups. Types of 64 bits are
// always sorted by networks, without groups.
Tensor top_k(const Tensor& x, std::int64_t count, bool largest, std::string name);

}  // namespace ferry::ops
