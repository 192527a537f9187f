// Compiles, checks and measures kernels of any kind that the command line knows, compares two of them, and measures the
// way to a device.
//
//     ferry::MeasureRequest request;
//     request.kernel.file = "mine.c";
//     request.call.sizes = {"n=512"};
//     const ferry::bench::Measurement found = ferry::measure(ferry::connect("pi"), request);
//     printf("%g s, %g of the peak\n", found.timing.median(), found.share_of_flops().value_or(0));
//
// Times are in seconds a call. Everything here throws OptionError for a mistake in the options, UsageError for options
// that contradict each other, CompileError, KernelFailed if the kernel itself fails, and Error for what the device
// refuses. The observer is told of warnings and progress.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/api.h"
#include "ferry/bench/comparison.h"
#include "ferry/bench/connection.h"
#include "ferry/bench/measure_options.h"
#include "ferry/bench/measurement.h"
#include "ferry/bench/sweep.h"
#include "ferry/client.h"
#include "ferry/compile.h"
#include "ferry/kernel/call_options.h"
#include "ferry/kernel/kernel_options.h"
#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"
#include "ferry/kernel/option_error.h"
#include "ferry/target/target.h"
#include "ferry/verify/check_request.h"

namespace ferry {

// Returns what the kernel is compiled for to run on the device: its processor or, for CUDA C, its first GPU. `facts`
// are the device's.
FERRY_API Target target_of(const DeviceFacts& facts, const KernelOptions& kernel);

// Compiles the kernel's chosen function. Its default schedule is that for the sizes of the call, as far as they are
// known; an empty call compiles for any size.
FERRY_API CompiledModule compile(const KernelOptions& kernel, const Target& target, const CallOptions& call = {},
                                 const Observer& observer = {});

// Calls the kernel once without a device. One in ferry's own notation is interpreted loop by loop and thread by thread
// and compared with its definition. One in another language runs on this machine under clang's sanitizers, and is
// compared with the reference, if there is one.
FERRY_API verify::CheckReport check(const verify::CheckRequest& request, const Observer& observer = {});
// Calls the kernel once on the device. It is compared with its definition, if it has one, and with the reference. A
// kernel that fails there is a mistake.
FERRY_API verify::CheckReport check(const Device& device, const verify::CheckRequest& request,
                                    const Observer& observer = {});

// Compares results that are there already, whatever computed them from the inputs of the call, with the definition of
// the kernel: a file of NumPy (.npy) for each tensor that it writes, in their order. Inputs from files are allowed the
// worst of rounding errors; where they were drawn at random (`are_random`), the square-root bound holds (CheckLimits).
// Throws UsageError for a kernel that has no definition, and for a file of another type or shape.
FERRY_API verify::CheckReport check_given(const verify::CheckRequest& request, std::span<const std::string> results,
                                          bool are_random = false, const Observer& observer = {});

// Checks programs that are built with ferry/lang.h, with a schedule of ferry/schedule.h, instead of texts. The
// target is that of CheckRequest: without one it is this machine, or OpenCL where the schedule binds loops to threads.
struct ProgramCheck {
  CallOptions call = {};
  std::string target = {};
  verify::CheckLimits limits = {};
  bool thorough = false;  // with adversarial inputs and other sizes too
};
// Interprets the program loop by loop and thread by thread, which finds races and indices out of bounds, and compares
// it with its definition.
FERRY_API verify::CheckReport check(const lang::Program& program, const schedule::Schedule& schedule,
                                    const ProgramCheck& request, const Observer& observer = {});
// Shows the program at a stage of its compilation, as 'ferry compile --emit' does: "schedule", "lower" (the loops;
// those after a pass if `after` names one), "c", "opencl", "cuda", "ptx", "llvm" or "asm".
FERRY_API std::string emit(std::string_view stage, const lang::Program& program, const schedule::Schedule& schedule,
                           const Target& target, const std::string& after = {}, const Observer& observer = {});

struct MeasureRequest {
  KernelOptions kernel;
  CallOptions call = {};
  std::string target = {};  // empty: that of the device
  // The file of a kernel that computes the same: the kernel is measured only if its results agree. Empty: none.
  std::string reference = {};
};

// Compiles the kernel for the device and measures it there. Throws bench::WrongResult instead if it was to be checked
// and computes something else.
FERRY_API bench::Measurement measure(const Device& device, const MeasureRequest& request,
                                     const bench::MeasureOptions& options = {}, const Observer& observer = {});
// Measures calls of a loaded function with these arguments, which are those of Function::call().
FERRY_API bench::Measurement measure(const Device& device, const Module& module, const std::string& function,
                                     const std::vector<Argument>& arguments, const bench::MeasureOptions& options = {},
                                     const Observer& observer = {});
// Measures the kernel on each device in a session of its own, at every point of the sweeps; without sweeps, the call as
// it is. If one device fails, its earlier results and those of the other devices are kept; after a wrong result the
// next point follows. A session that is lost before anything ran there is opened again. Throws OptionError for sweeps
// that do not fit the kernel.
FERRY_API bench::Measurements measure_on(std::span<const bench::NamedDevice> devices, const MeasureRequest& request,
                                         std::span<const bench::Sweep> sweeps = {},
                                         const bench::MeasureOptions& options = {}, const Observer& observer = {});

// Runs both kernels once on the same inputs and compares their outputs, and if these are the same, measures both in
// turns in each of several sessions that `open` provides. A session that is lost before anything ran there is opened
// again. A kernel in another language without a signature is called with that of the other. Throws OptionError
// (same_results) for kernels that cannot be given the same inputs.
FERRY_API bench::KernelComparison compare(const OpenSession& open, const KernelOptions& a, const KernelOptions& b,
                                          const bench::CompareOptions& options = {}, const Observer& observer = {});

}  // namespace ferry
