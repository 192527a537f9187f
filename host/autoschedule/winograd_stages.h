// Recognises the stages of a Winograd convolution by what they read.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ferry::autoschedule {

// Axes in this order: n, h, w and the blocks ob and cb of channels with v and u in them enumerate results and inputs,
// ty and tx tiles, xi and nu elements of transformed tiles, j columns of a tile of the input, k rows of a tile of
// results.
struct WinogradStages {
  std::string weight_rows, weights;  // (xi, s, ob, cb, u, v), (xi, nu, ob, cb, u, v); empty: not of this form
  std::string input_rows, input;     // (n, cb, ty, tx, xi, j, u), (xi, nu, n, cb, ty, tx, u)
  std::string products;              // (xi, nu, n, ob, ty, tx, v), and cb and u of the sum
  std::string product_rows;          // (n, ob, ty, tx, k, nu, v)
  std::string result;                // (n, ob, h, w, v)
  std::int64_t tile = 0;             // results of a tile in each dimension
};

// Returns the group of a stage of products, unless another stage reads one of the intermediate ones.
std::optional<WinogradStages> find_winograd(const schedule::Stages& stages, const schedule::ScheduledStage& products);

}  // namespace ferry::autoschedule
