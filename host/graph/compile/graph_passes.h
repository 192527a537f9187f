// The table of passes over a network between its import and its division into groups (host/graph/passes).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "ferry/error_ratios.h"
#include "ferry/target/target.h"
#include "host/graph/graph.h"
#include "host/graph/passes/choose_layouts.h"
#include "host/graph/passes/size_guess.h"

namespace ferry::graph {

// Algorithms that a network may use beside those that its nodes define.
struct Algorithms {
  bool winograd = true;                     // for convolutions
  bool int8 = true;                         // sums of products of 8-bit integers, for dequantized ones
  bool float32 = true;                      // float32 for those where it takes less time
  ErrorRatios max_error = kMaxErrorRatios;  // Winograd's algorithm
  KnownLayouts layouts = {};                // in place of those that estimates choose
};

struct GraphPass {
  std::string_view name;
  std::string_view purpose;  // a line for people, without a full stop (docs/passes.md)
  Graph (*run)(Graph, const Target&, const Algorithms&, const SizeGuess&);
  bool GraphPassGroups::* group = nullptr;  // only targets with this group have the pass; null: all have it
  bool Algorithms::* algorithm = nullptr;   // only networks that may use it have the pass; null: all have it
};

// Passes in order. Each pass's header explains its position.
std::span<const GraphPass> graph_passes();

// Returns the network as it is divided into groups and compiled for a target: with the passes done, and validated after
// each. Calls `after`, if given, with the graph after each pass, and for one that is left out with what the previous
// one left. Inputs and outputs stay as they are. `sizes` are those that calls are expected to have; the result is right
// for all others too.
Graph optimized(Graph graph, const Target& target, const Algorithms& algorithms = {},
                const std::map<std::string, std::int64_t>& sizes = {},
                const std::function<void(std::string_view pass, const Graph&)>& after = {});

}  // namespace ferry::graph
