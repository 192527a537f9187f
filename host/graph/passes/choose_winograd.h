// Computes convolutions of 3 x 3 with Winograd's algorithm (ferry/ops/winograd.h) where that is estimated to take less
// time (host/autoschedule/winograd_choice.h). Results differ in rounding.
#pragma once

#include "ferry/error_ratios.h"
#include "ferry/target/target.h"
#include "host/graph/graph.h"
#include "host/graph/passes/size_guess.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::graph {

// Only convolutions that read and write images with their channels in blocks have the choice, between tiles whose
// errors are within the limit. For images of open sizes it is made by the guess.
Graph choose_winograd(Graph graph, const Target& target, const ErrorRatios& limit = kMaxErrorRatios,
                      const SizeGuess& guess = {});

// An algorithm for a convolution.
struct ConvolutionAlgorithm {
  std::int64_t winograd_tile = 0;  // as of ConvAttributes
  double cost = 0;                 // the estimated time, in one unit for all algorithms of a convolution
};

// Returns the algorithms among which the pass chooses for a node; none for a node for which there is no choice.
std::vector<ConvolutionAlgorithm> convolution_algorithms(const Graph& graph, const Node& node, const Target& target,
                                                         const ErrorRatios& limit, const SizeGuess& guess);

// Returns the tile of a convolution that is computed in floats; null for other nodes.
std::int64_t* winograd_tile_of(Attributes& attributes);

// Returns "direct", or "winograd4" after the tile.
std::string algorithm_name(std::int64_t winograd_tile);

// Returns the estimated share of a direct convolution's time that a convolution takes in float32: 1 if Winograd's
// algorithm would not be chosen for it.
double winograd_share(const Graph& graph, const Node& node, const Target& target, const ErrorRatios& limit,
                      const SizeGuess& guess);

}  // namespace ferry::graph
