// Recurrences and scatters, which are computed in order along one axis: all other axes that no element is read across
// go outside of it, and a chunk of the innermost one is computed in vectors inside.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

std::optional<Match> match_in_sequence(const StageContext& context);
// The same for GPUs: each thread computes whole sequences.
std::optional<Match> match_gpu_sequences(const StageContext& context);

}  // namespace ferry::autoschedule
