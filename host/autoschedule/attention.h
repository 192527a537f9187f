// Schedules attention, two products with stages over rows between them, such as softmax(Q K^T) V, by blocks of rows:
// the scores of a block, which all lie in the second-level cache, never reach memory.
//
//     for batches: pack the columns of both products    # in each block instead, if threads share out blocks
//       for block of rows
//         for columns by tile: for rows by tile          # a register tile of scores, and their epilogues
//           for depth: scores += q * k
//         for row: top, weights                          # stages that the weights are computed from
//         total                                          # other stages over the rows
//         for rows by tile: for columns: product += weight * v
//           result
#pragma once

#include "ferry/target/target.h"
#include "host/autoschedule/rule.h"

#include <cstdint>

namespace ferry::autoschedule {

// Matches the last product. Knobs: `tile` and `score_tile`, rows and vectors of the register tiles of the last product
// and of the scores; `rows` of a block; `parallel`. Stages between the products, but for the scores' epilogues, are
// left to other rules.
std::optional<Match> match_attention(const StageContext& context);

// The sizes of attention; those that are open are 0.
struct AttentionSizes {
  std::int64_t heads = 0;              // in all batches
  std::int64_t queries = 0, keys = 0;  // rows and columns of a head's scores
  std::int64_t bytes = 0;              // size of a score
};

// Whether computing the scores by blocks takes less time than storing them all: whether they exceed the caches. Open
// sizes are taken to be large.
bool wants_attention(const AttentionSizes& sizes, const Target& target);

}  // namespace ferry::autoschedule
