// Measures the cost of calling an empty kernel: launched locally, and over the wire on loopback.
#pragma once

#include <string>

#include "bench/gpu/gpu.h"

namespace ferry::bench {

// Returns the seconds of a launch with a synchronisation, the median of many.
double local_null_launch(Gpu& gpu);

struct NullCall {
  double call = 0;  // seconds of the kernel's call and its answer
  double ping = 0;  // seconds of a request that does nothing
};
// `module` has one function with one input and one output of one element each.
NullCall null_call(const std::string& module);

}  // namespace ferry::bench
