// Where the time of a network goes, with default schedules and algorithms.
#pragma once

#include "host/kernel/kernel.h"
#include "host/tune/network/kernel_times.h"
#include "host/tune/tune.h"

#include <map>
#include <string>
#include <vector>

namespace ferry::tune {

// A network as tuning sees it.
struct NetworkProfile {
  Target target;
  SizesByName sizes;  // those of the call that are known
  std::vector<NetworkProgram> kernels;
  std::map<std::string, KernelTime> times;  // all kernels, also those that cannot be tuned
  bench::Peak peak = {};                    // the device's; zeros: not known
  double compile_seconds = 0;               // to compile the network
  double session_seconds = 0;               // to load and call it in a session of its own
};

// Runs the network, with the layouts that its source knows. Throws as compile_kernel() and Function::call().
NetworkProfile profile_network(const bench::NamedDevice& device, const TunedKernel& network, const TuneOptions& options,
                               const Observer& observer);

// Returns the time that the device needs at least, by its peaks; 0: not known.
double least_seconds(const KernelTime& kernel, const bench::Peak& peak);

}  // namespace ferry::tune
