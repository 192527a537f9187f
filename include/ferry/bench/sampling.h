// Options for sampling a kernel's time.
#pragma once

#include <cstdint>

#include "ferry/timing.h"

namespace ferry::bench {

enum class CoreKind : std::uint8_t { any, big, little };

struct SamplingOptions {
  BenchOptions bench;
  CoreKind cores = CoreKind::any;  // big or little: instead of bench.cores
  bool isolated = true;            // run the calls in processes of their own, where the device can
  bool fresh_inputs = true;        // and give each call inputs that it has not seen
  SecretSeed secret = {};          // draws these; if there is none, each measurement draws its own
};

}  // namespace ferry::bench
