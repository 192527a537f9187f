// Recognises attention: a product whose rows are computed, by stages over the same rows, from another product, as in
// softmax(Q K^T) V.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ferry::autoschedule {

struct AttentionStages {
  std::string product;                 // the last product, by whose rows the others are computed
  std::vector<std::string> epilogues;  // stages that read the product in place, each only by the next
  std::string weights;                 // the tensor whose rows the product reads
  std::vector<std::string> before;     // stages between the scores' epilogues and the weights, such as maxima of rows
  std::vector<std::string> beside;     // other stages over the rows, which the epilogues read, such as sums of weights
  std::string scores;                  // the first product
  std::vector<std::string> score_epilogues;  // as `epilogues`, for the scores
  std::size_t rows = 0;                      // the axis of all stages over the rows; those before it are batches
};

// Returns nothing unless `product` is a sum of products of a computed tensor's rows with columns that no row
// determines, and all stages between it and another such sum are read only by each other, row by row.
std::optional<AttentionStages> find_attention(const schedule::Stages& stages, const schedule::ScheduledStage& product);

}  // namespace ferry::autoschedule
