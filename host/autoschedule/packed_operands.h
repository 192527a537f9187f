// Copies of the operands of dot products: columns in groups, rows padded or transposed.
#pragma once

#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"
#include "host/autoschedule/dot_product.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ferry::autoschedule {

struct PackedColumns {
  DotOperand operand;
  std::int64_t group = 1;  // elements of a sum that are stored together
  std::int64_t panel = 1;  // columns that a tile reads
};

// Pads a dimension of a copy, whose loops are untouched, to a multiple.
void pad(schedule::Schedule& schedule, const std::string& copy, std::size_t dimension, std::int64_t multiple);

// Stores the copy as [columns / panel][K / group][panel][group] inside of its other dimensions, and makes its loops.
void pack_columns(schedule::Schedule& schedule, const std::string& copy, const PackedColumns& columns);

// Makes the elements along the sum contiguous in a copy of the rows, and makes its loops, parallel where that pays.
void copy_rows(schedule::Schedule& schedule, const std::string& copy, const DotOperand& rows, const Target& target);

}  // namespace ferry::autoschedule
