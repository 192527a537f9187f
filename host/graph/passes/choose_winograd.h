// Computes convolutions of 3 x 3 with Winograd's algorithm (ferry/ops/winograd.h) where that is estimated to take less
// time (host/autoschedule/winograd_choice.h). Results differ in rounding.
#pragma once

#include "ferry/error_ratios.h"
#include "ferry/target/target.h"
#include "host/graph/graph.h"

namespace ferry::graph {

// Only convolutions that read and write images with their channels in blocks have the choice, between tiles whose
// errors are within the limit.
Graph choose_winograd(Graph graph, const Target& target, const ErrorRatios& limit = kMaxErrorRatios);

}  // namespace ferry::graph
