// Schedules matrix products of bytes by dot instructions: the columns are packed in groups of the products that one
// lane of an instruction adds, and results are accumulated in register tiles.
//
//     for columns by tile                                       the same for a whole number of groups of the sum
//       pack these columns as [K / group][columns][group]
//       for rows by tile
//         for groups: tile += dot(row's group, columns' groups)
//
// Where the instruction multiplies bytes of other signs, the columns are moved by 128 while they are packed, and the
// results corrected by the sums of the rows. Sums that are no whole number of groups are padded: packed columns and a
// copy of the rows have zeros there. Rows whose elements along the sum are not contiguous are copied as well.
#pragma once

#include "ferry/target/target.h"
#include "host/autoschedule/dot_product.h"
#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

// Whether each column is used by enough rows to make packing worthwhile, and those of bfloat16 by AMX's tiles.
bool wants_packed_dots(const DotProduct& product, std::int64_t lanes, const Target& target);

// Knobs: `tile`, the rows and vectors of the register tile; `order`, whether rows or columns are in the outer loops;
// `parallel`.
std::optional<Match> match_packed_dots(const StageContext& context);

}  // namespace ferry::autoschedule
