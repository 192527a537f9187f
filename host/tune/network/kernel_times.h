// How long the kernels of a network take in one of its calls.
#pragma once

#include "ferry/client.h"

#include <map>
#include <string>
#include <vector>

namespace ferry::tune {

// All calls of one kernel in a call of the network.
struct KernelTime {
  double seconds = 0;           // the sum of the least: what else runs on the device only adds to them
  double flops = 0, bytes = 0;  // 0: not known
  DType dtype = DType::f32;     // that of the results
};

// Returns the times by the names of the kernels: code for some sizes of a kernel has its name.
std::map<std::string, KernelTime> kernel_times(const std::vector<StepTime>& steps);

}  // namespace ferry::tune
