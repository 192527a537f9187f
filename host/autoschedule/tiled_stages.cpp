#include "host/autoschedule/tiled_stages.h"

#include "host/autoschedule/block_tiles.h"
#include "host/autoschedule/blocked_contraction.h"
#include "host/autoschedule/blocked_window.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue_fusion.h"
#include "host/autoschedule/gemv.h"
#include "host/autoschedule/packed_dots.h"
#include "host/autoschedule/stencil.h"
#include "host/autoschedule/vector_axis.h"

namespace ferry::autoschedule {

using namespace ir;
using schedule::ScheduledStage;
using schedule::Stages;

namespace {

// Whether the stage is scheduled as a contraction or a gemv.
bool is_tiled_contraction(const ScheduledStage& stage, const Target& target, const ConstantNames& constants) {
  if (const auto product = find_dot_product(stage, native_lanes(stage, target), target, constants))
    if (wants_packed_dots(*product, native_lanes(stage, target), target)) return true;
  const std::int64_t lanes = contraction_lanes(stage, target);
  const auto contraction = find_contraction(stage, lanes, constants);
  return contraction && (wants_blocks(*contraction, lanes, target) || wants_gemv(*contraction, lanes, target));
}

}  // namespace

std::vector<std::string> tiled_stages(const Stages& stages, const Target& target, const ConstantNames& constants) {
  std::vector<std::string> names;
  for (const ScheduledStage& stage : stages) {
    const Reduce* reduce = stage.reduction();
    if (reduce == nullptr) continue;
    if (auto total = sum_of_blocks(stages, stage, target); total && has_vectors_of_columns(stage, target))
      names.push_back(*std::move(total));
    const auto vector = choose_vector_axis(stage, target, 0);
    if (is_stencil(stage) || is_blocked_window(stage) || is_tiled_contraction(stage, target, constants) ||
        (vector && choose_row_axis(stage, *reduce, *vector, 0)))
      names.push_back(stage.name);
  }
  // Epilogues are computed in the loops of those stages, not in rows.
  for (std::size_t i = 0, tiles = names.size(); i < tiles; ++i)
    for (std::string& reader : epilogue_stages(stages, *find_stage(stages, names[i]), ""))
      names.push_back(std::move(reader));
  return names;
}

}  // namespace ferry::autoschedule
