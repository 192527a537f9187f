// Prepares the options of a measurement for a device.
#pragma once

#include "ferry/bench/sampling.h"
#include "ferry/client.h"

namespace ferry::bench {

// Returns the protocol's options for this device: with the chosen cores, the settings implied by cold caches, and the
// files that describe the environment. Throws UsageError if the options contradict each other or the device has no such
// cores.
BenchOptions options_for(const SamplingOptions& options, const Device& device);

// Returns the secret of the options, or draws one.
SecretSeed secret_for(const SamplingOptions& options);

}  // namespace ferry::bench
