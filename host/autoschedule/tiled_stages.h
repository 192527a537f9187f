// Finds the stages that are scheduled in tiles of several rows.
#pragma once

#include "ferry/target/target.h"
#include "host/autoschedule/contraction.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <string>
#include <vector>

namespace ferry::autoschedule {

// Returns the stages whose tiles take several rows at once, and their epilogues: rows of these are not fused.
std::vector<std::string> tiled_stages(const schedule::Stages& stages, const Target& target,
                                      const ConstantNames& constants);

}  // namespace ferry::autoschedule
