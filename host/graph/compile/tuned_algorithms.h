// Algorithms that tuning has found for the kernels of a network, in place of those that the graph passes chose by
// estimates. A kernel with another algorithm is another program, with a space of schedules of its own.
#pragma once

#include "ferry/lang/program.h"
#include "ferry/target/target.h"
#include "host/graph/compile/graph_passes.h"
#include "host/graph/compile/tuned_kernels.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry::graph {

// A kernel with another algorithm, as a program by itself with all sizes fixed.
struct AlgorithmProgram {
  std::string algorithm;  // "winograd2"
  std::string kernel;     // its name in a network that computes it so
  lang::Program program;
  double ratio = 1;  // its estimated time over that of the algorithm that the passes chose
  std::int64_t winograd_tile = 0;
};

struct KernelAlgorithms {
  std::string chosen;      // by the passes; empty: there is no choice
  std::size_t member = 0;  // the node of the group that has the choice
  std::vector<AlgorithmProgram> others;
};

// Returns the algorithms within the limits by which a kernel on the target's device can be computed. Those whose sizes
// are not known, or passed as numbers in a call, have no choice.
KernelAlgorithms algorithms_of(const Graph& graph, const NetworkKernels& kernels, std::size_t kernel,
                               const Target& target, const Algorithms& allowed,
                               const std::map<std::string, std::int64_t>& sizes);

struct TunedAlgorithm {
  std::string algorithm;  // one of the others
  TunedPoint point;       // in the space of its program
};

// Returns the best algorithm that is known for a kernel, which is a program with all sizes fixed, if it is one of the
// others.
using FindAlgorithm = std::function<std::optional<TunedAlgorithm>(const lang::Program& program, const Target& target,
                                                                  std::span<const AlgorithmProgram> others)>;

// All that tuning has found.
struct Tuning {
  FindTuned schedule = {};       // empty: kernels have their default schedules
  FindAlgorithm algorithm = {};  // empty: they have the graph's algorithms
  TunedNodes known = {};         // without `algorithm`: the schedules of kernels whose algorithms the graph has already
  Algorithms allowed = {};
  std::vector<std::string> notes = {};  // on what the graph has from tuning already
};

struct TunedGraph {
  Graph graph;
  TunedNodes points = {};  // the schedules of kernels with other algorithms
};

// Gives kernels the algorithms that are known to be faster. The graph is one that optimized() returned for these
// algorithms and sizes, in which groups and kernels stay as they are.
TunedGraph with_tuned_algorithms(const Graph& graph, const Target& target,
                                 const std::map<std::string, std::int64_t>& sizes, const Tuning& tuning);

}  // namespace ferry::graph
