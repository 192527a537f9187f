// Says which operators of a network two modules compute differently.
#pragma once

#include <string>
#include <vector>

#include "crosscompile/target/machine_code.h"
#include "module/module_file.h"

namespace ferry::gate {

// Whether the module is that of a network whose steps are described.
bool is_network_module(const ModuleFile& module);

struct NetworkDiff {
  // At most a page with a line for each operator that came ("+"), went ("-") or has another kernel ("~"), and how it
  // differs. Operators with the same two kernels are one line.
  std::string operators;
  // Unified diffs of those kernels that differ, each under the name of its operator: kernels are numbered in the order
  // of the network, so their own names change with every operator before them. Code for GPUs is the text that the
  // module carries; what its kernels share is compared as well.
  std::string schedule, assembly;
};

// One of the two modules.
struct NetworkSide {
  const ModuleFile& file;
  std::vector<MachineFunction> functions;  // its code for CPUs; none where that is unknown
};

// Takes the modules of networks. Operators are compared by the names of their nodes. Throws Error if the descriptions
// of steps are damaged.
NetworkDiff diff_networks(const NetworkSide& baseline, const NetworkSide& current);

}  // namespace ferry::gate
