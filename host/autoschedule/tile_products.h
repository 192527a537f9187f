// Schedules convolutions and products of bytes for AMX's tiles, where both operands have the channels of a sum in
// groups of four: convolutions of images in blocks, and products with matrices that are packed in vectors of columns.
//
//     for blocks of columns, for rows by tile
//       for the other axes of the sum, for groups by 16
//         tile_dot: 1 or 2 tiles of rows by 1 or 2 of 16 columns += up to 16 groups
//
// The two tiles of rows are neighbours along a row of the image, of equal size so that tiles need not be configured
// anew, or, where rows are short, belong to two rows.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

// Knobs: `tile`, the rows, of both tiles together, and vectors of 16 columns; `order`, whether rows or columns are in
// the outer loops.
std::optional<Match> match_tile_products(const StageContext& context);

}  // namespace ferry::autoschedule
