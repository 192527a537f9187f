// The roofline model (Williams, Waterman, Patterson, Roofline, CACM 2009): what a device can reach at best with a
// kernel of this arithmetic intensity.
#pragma once

#include <optional>

#include "ferry/bench/measurement.h"
#include "ferry/client.h"
#include "host/compiler/api/compiler.h"
#include "host/kernel/call_plan.h"

namespace ferry::bench {

// Of one call of a kernel. All numbers are above 0.
struct Roofline {
  double flops = 0;  // operations
  double bytes = 0;  // traffic, each tensor counted once
  Peak peak = {};
  DType peak_dtype = DType::f32;

  double intensity() const { return flops / bytes; }  // operations a byte
  // Whether a copy's rate limits it, and not arithmetic.
  bool is_limited_by_memory() const { return intensity() * peak.bytes < peak.flops; }
  // Operations a second under the roof.
  double attainable() const { return is_limited_by_memory() ? intensity() * peak.bytes : peak.flops; }
  // The rate of a call that takes so long, over the attainable one.
  double share(double seconds) const { return flops / seconds / attainable(); }
};

// Returns the type for which the arithmetic peak is measured: that of the first float output; narrow floats compute in
// f32. Nothing without float outputs.
std::optional<DType> arithmetic_type(const FunctionInfo& function);

// Measures the device's peaks for a call of this plan. Returns nothing for kernels whose operations are unknown or are
// no floats', and for targets that are no CPUs. Threads and cores are those of `bench`.
std::optional<Roofline> measure_roofline(const Device& device, const Compiler& compiler, const Target& target,
                                         const FunctionInfo& function, const CallPlan& plan, const BenchOptions& bench);

}  // namespace ferry::bench
