// Schedules that tuning has found for the kernels of a network. A kernel is a program like any other, so what was found
// for the program by itself counts here too.
#pragma once

#include "ferry/lang/program.h"
#include "ferry/target/target.h"
#include "host/graph/compile/network_kernels.h"
#include "host/graph/kernels/kernel_key.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ferry::graph {

struct TunedPoint {
  PointValues values;
  std::string note = {};  // says where it comes from
};

// Returns the best point that is known for a program on a target. `sizes` are the known sizes that are not fixed in the
// program. Nothing if none is known.
using FindTuned = std::function<std::optional<TunedPoint>(
    const lang::Program& program, const std::map<std::string, std::int64_t>& sizes, const Target& target)>;

// Schedules that are known of kernels, by the last node of each one's first call.
using TunedNodes = std::map<std::size_t, TunedPoint>;

// Returns the kernel with its sizes fixed to those that it is scheduled for. Nothing if they are unknown, if a call
// passes one of them as a number, or if there are too many loops around a call for a further one. `key` is the
// kernel's, or its with another algorithm, and `name` that of the kernel with it.
std::optional<lang::Program> fixed_program(const Graph& graph, const NetworkKernels& kernels, std::size_t kernel,
                                           const KernelKey& key, const std::string& name);

// Returns what is known of each kernel. Without `find` nothing is but `known`.
std::vector<TunedKernel> tuned_kernels(const Graph& graph, const NetworkKernels& kernels, const Target& target,
                                       const FindTuned& find, const TunedNodes& known = {});

// Makes the code for some sizes part of the kernels' functions.
void attach_sized_kernels(const NetworkKernels& kernels, const std::vector<TunedKernel>& tuned, Manifest& manifest);

}  // namespace ferry::graph
