// Measures kernels on devices: their times, the environment, the device's peaks and what a call's steps take.
//
//     const bench::Measurement mm = bench::measure(device, device.load(module), "mm", {A, B});
//     printf("%g s, %g of the peak\n", mm.timing.median(), mm.share_of_flops().value_or(0));
//
// Times are in seconds a call. Everything here throws UsageError for options that contradict each other, CompileError,
// KernelFailed if the kernel itself fails, and Error for what the device refuses.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ferry/bench/measure_options.h"
#include "ferry/kernel/call_options.h"
#include "ferry/kernel/observer.h"
#include "host/kernel/kernel.h"
#include "host/measure/sweep.h"

namespace ferry::bench {

// Measures calls of a loaded function with these arguments, which are those of Function::call(). The compiler compiles
// the kernels that measure the device's peaks; without one there are none.
Measurement measure(const Compiler* compiler, const Device& device, const Module& module, const std::string& function,
                    const std::vector<Argument>& arguments, const MeasureOptions& options = {},
                    const Observer& observer = {});

// A kernel that a user named, and how it is called.
struct MeasuredKernel {
  KernelSource source;
  std::string function = {};  // empty: the only function
  std::string target = {};    // empty: that of the device
  CallOptions call = {};
  // Computes the same: the kernel is measured only if its results agree with these.
  std::optional<KernelSource> reference = {};
};
// Compiles the kernel for the device and measures it there. Throws WrongResult instead if it was to be checked and
// computes something else.
Measurement measure(const Device& device, const MeasuredKernel& kernel, const MeasureOptions& options = {},
                    const Observer& observer = {});

// Measures the kernel on each device in a session of its own, at every point of the sweeps; without sweeps, the call as
// it is. If one device fails, its earlier results and those of the other devices are kept; after a wrong result the
// next point follows. A session that is lost before anything ran there is opened again. Throws OptionError for sweeps
// that do not fit the kernel. The observer may interrupt it between measurements.
Measurements measure_on(std::span<const NamedDevice> devices, const MeasuredKernel& kernel,
                        std::span<const Sweep> sweeps = {}, const MeasureOptions& options = {},
                        const Observer& observer = {});

}  // namespace ferry::bench
