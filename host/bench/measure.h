// Measures kernels on devices: their times, the environment, the device's peaks and what a call's steps take.
//
//     const bench::Measurement mm = bench::measure(device, device.load(module), "mm", {A, B});
//     printf("%g s, %g of the peak\n", mm.timing.median(), mm.share_of_flops().value_or(0));
//
// Times are in seconds a call. Everything here throws UsageError for options that contradict each other, CompileError,
// KernelFailed if the kernel itself fails, and Error for what the device refuses.
#pragma once

#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/bench/measurement.h"
#include "host/bench/sampling.h"
#include "host/bench/sweep.h"
#include "host/kernel/call_plan.h"
#include "host/kernel/kernel.h"
#include "host/kernel/session_source.h"

namespace ferry::bench {

struct MeasureOptions {
  SamplingOptions sampling{{.number = 0,
                            .repeat = 40,
                            .min_repeat_ms = 10,
                            .warmup_ms = 10,
                            .max_repeat = 100,
                            .tolerance = 0.01,
                            .timeout_ms = 10'000}};
  // Measure the device's peaks too, before and after the samples. There are none for GPUs, for kernels whose results
  // are integers, and without a compiler.
  bool peak = true;
  // Compare what the kernel computes with its own definition, evaluated on this machine, before it is measured. Only
  // for a kernel in ferry's own notation that a user named; others throw OptionError then.
  bool check_definition = false;
  verify::CheckLimits limits = {};  // of this and of the comparison with a reference
  // Compiles the kernels that measure the peaks, for a loaded function; a kernel that a user named has its own.
  const Compiler* compiler = nullptr;
};

// Measures calls of a loaded function with these arguments, which are those of Function::call().
Measurement measure(const Device& device, const Module& module, const std::string& function,
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

struct NamedDevice {
  std::string name;  // for messages
  OpenSession open;
};
// Why a device has no measurement, or not one for every size: an Error. A WrongResult is about one size alone.
struct FailedDevice {
  std::string name;
  std::exception_ptr error;
};
struct Measurements {
  std::vector<Measurement> done;  // device by device, point by point
  std::vector<FailedDevice> failures;
};
// Measures the kernel on each device in a session of its own, at every point of the sweeps; without sweeps, the call as
// it is. If one device fails, its earlier results and those of the other devices are kept; after a wrong result the
// next point follows. A session that is lost before anything ran there is opened again. Throws OptionError for sweeps
// that do not fit the kernel.
Measurements measure_on(std::span<const NamedDevice> devices, const MeasuredKernel& kernel,
                        std::span<const Sweep> sweeps = {}, const MeasureOptions& options = {},
                        const Observer& observer = {});

}  // namespace ferry::bench
