// What it takes to call a kernel that does nothing: launched here, and over the wire on loopback.
#pragma once

#include <string>

#include "bench/gpu/gpu.h"

namespace ferry::bench {

// Seconds of a launch and a synchronization, the median of many.
double local_null_launch(Gpu& gpu);

struct NullCall {
  double call = 0;  // seconds, the kernel's call and its answer
  double ping = 0;  // of a request that does nothing
};
// `module` has one function, of one input and one output of one element each.
NullCall null_call(const std::string& module);

}  // namespace ferry::bench
