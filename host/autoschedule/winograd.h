// Schedules Winograd convolutions, as winograd_conv2d_blocked() of ferry/ops/winograd.h defines them: products of
// transformed tiles, in a group with the stages that transform the input, the weights and the products.
//
//     for block of rows of tiles
//       for tile: input_rows, input          # every transform is unrolled
//       for each of the (m + 2)^2 matrix products
//         for tiles of registers: products   # several tiles by several blocks of output channels
//       for tile: product_rows, result and its epilogues
//
// The transformed input and the products of a block stay in the second-level cache.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

// Matches the stage of the products. Knobs: `tile`, the tiles and the vectors of output channels whose sums are in
// registers; `block`, rows of tiles that are transformed at a time; `parallel`: the loop that is parallel, or the loops
// of the stages in a block. The result names all stages of the group as epilogues.
std::optional<Match> match_winograd(const StageContext& context);

}  // namespace ferry::autoschedule
