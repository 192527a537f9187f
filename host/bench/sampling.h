// How samples of a kernel's time are taken.
#pragma once

#include "ferry/timing.h"
#include "host/bench/cores.h"

namespace ferry::bench {

struct SamplingOptions {
  BenchOptions bench;
  CoreKind cores = CoreKind::any;  // big or little: instead of bench.cores
};

// Returns the protocol's options for this device: with the chosen cores, the settings implied by cold caches, and the
// files that describe the environment. Throws UsageError if the options contradict each other or the device has no such
// cores.
BenchOptions options_for(const SamplingOptions& options, const Device& device);

}  // namespace ferry::bench
