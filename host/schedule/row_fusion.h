// Stages that walk over the same rows one after the other: a softmax, a normalisation. Row by row each finds in the
// cache what the one before has left there.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/schedule.h"

#include <string>
#include <vector>

namespace ferry::schedule {

struct RowFusion {
  std::string result;               // in whose outer loops the others are computed; empty: nothing is fused
  std::vector<std::string> stages;  // the others, last producers first
  std::size_t outer = 0;            // how many axes, from the first, the rows are counted by
};

//     for i: top[i] = max(A[i, :])                 for i
//     for i: for j: e[i,j] = exp(A[i,j] - top[i])    top = max(A[i, :])
//     for i: total[i] = sum(e[i, :])           ->    for j: e[j] = exp(A[i,j] - top)
//     for i: for j: Y[i,j] = e[i,j] / total[i]       total = sum(e)
//                                                    for j: Y[i,j] = e[j] / total
//
// For a program with one result; `apart` are stages that keep their own loops. Rows must be long enough to be worth a
// loop of their own and short enough for the second-level cache.
RowFusion find_row_fusion(const Stages& stages, const std::vector<std::string>& apart, const Target& target);

}  // namespace ferry::schedule
