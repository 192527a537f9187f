// Finds what a stage reads, and which stages given outputs need.
#pragma once

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/expr.h"
#include "ferry/lang/tensor.h"
#include "host/lang/stage.h"

#include <vector>

namespace ferry::lang {

// Returns every load in the stage's values, in order of occurrence.
std::vector<const ir::Load*> loads_of(const Stage& stage);
using analysis::loads_of;

struct RequiredTensors {
  std::vector<Tensor> computed;      // producers first; outputs of one stage adjacent and in order
  std::vector<Tensor> placeholders;  // in order of first use
};
RequiredTensors tensors_required_by(const std::vector<Tensor>& outputs);

}  // namespace ferry::lang
