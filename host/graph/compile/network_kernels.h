// The kernels of a network, each of them once.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/lang/program.h"
#include "ferry/target/target.h"
#include "host/graph/kernels/kernel_key.h"
#include "host/graph/plan/network_function.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ferry::graph {

struct GroupCall {
  Group group;
  std::size_t kernel = 0;           // index into the programs
  std::vector<Size> sizes;          // as of GroupKernel
  std::vector<TensorId> arguments;  // as of GroupKernel, without an input that the result replaces
};

struct NetworkKernels {
  std::vector<lang::Program> programs;  // with different names: "conv_relu_0"
  std::vector<KernelKey> keys;          // one for each program
  std::vector<std::size_t> first_call;  // of each program
  std::vector<GroupCall> calls;         // one for each group, in their order
};

// `sizes` are those of the network's symbols that are known; kernels are scheduled for them. A kernel whose every call
// reads the same input for the last time computes its result in that input's memory, which `storages` says afterwards:
// residuals, say. Throws CompileError, which names the nodes.
NetworkKernels kernels_of(const Graph& graph, const std::vector<Group>& groups,
                          const std::map<std::string, std::int64_t>& sizes, TensorStorages& storages);

// The kernels as loops, and the text of their default schedules.
struct LoweredKernels {
  std::vector<ir::Function> functions;
  std::string schedule;
};

// Throws as above.
LoweredKernels lower_kernels(const Graph& graph, const NetworkKernels& kernels, const Target& target);

}  // namespace ferry::graph
