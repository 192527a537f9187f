// The result of measuring a kernel for one size on one device.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ferry/api.h"
#include "ferry/bench/environment.h"
#include "ferry/bench/method.h"
#include "ferry/bench/timed_checks.h"
#include "ferry/client.h"
#include "ferry/kernel/kernel_failed.h"
#include "ferry/stats/interval.h"
#include "ferry/verify/findings.h"

namespace ferry::bench {

// Beyond this share of a measured peak, a warning says that the share means nothing.
inline constexpr double kMostOfPeak = 1.05;

// The device's peak rates, measured with ferry's own kernels.
struct Peak {
  double flops = 0;  // per second, of fused multiply-adds in the given type
  double bytes = 0;  // per second, read and written, by a copy as large as the kernel's own traffic
};

// The function that was called, and with which sizes.
struct MeasuredFunction {
  std::string name;
  std::string signature;                                    // "mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)"
  std::vector<std::pair<std::string, std::int64_t>> sizes;  // in the order of the signature
};

struct Measurement {
  MeasuredFunction function;
  std::string device, processor;  // names: the device's, and that of the processor that ran the kernel
  DeviceFacts facts;
  std::string target;  // the target that the kernel was compiled for
  Timing timing{};
  double flops = 0;  // operations of one call; 0: unknown
  double bytes = 0;  // traffic of one call, each tensor counted once
  Peak peak{};       // zeros: not measured
  DType peak_dtype = DType::f32;
  bool cold = false;
  Method method{};
  SecretSeed secret{};                         // drew what was new for each call; none if nothing was
  std::uint64_t moved_bytes = 0;               // bytes that memory must take in every call; 0: caches may hold them
  std::map<std::string, std::string> knobs{};  // the kernel's own schedule has them; "point": the default one's
  std::vector<std::string> constants{};        // the function's inputs that were packed before the measurement
  std::vector<StepTime> steps{};               // those of one call, if each was timed by itself
  verify::Findings findings{};                 // about the outputs, if they were to be checked
  TimedChecks timed_checks{};                  // and about those of timed calls, if the kernel has a definition

  // The 95% confidence interval of the median, in seconds a call.
  stats::Interval interval() const;
  Environment environment() const { return read_environment(timing); }
  double flops_per_second() const { return flops / timing.median(); }
  double bytes_per_second() const { return bytes / timing.median(); }
  // The rate over the measured peak: 1 is all of it. Nothing if the peak was not measured, or the operations are
  // unknown.
  std::optional<double> share_of_flops() const;
  std::optional<double> share_of_bytes() const;
  // Returns why the times cannot be true; empty if they can. Then they are not to be compared with others.
  std::string impossible() const;
  // Returns sentences that say why the times or the shares should not be trusted.
  std::vector<std::string> warnings() const;
};

// Returns "mm, M=512, N=512, rows=8": the function with its sizes and knobs.
std::string name_of(const Measurement& measurement);

// The kernel computes something else than it should, so that it was not measured.
class FERRY_API WrongResult : public KernelFailed {
 public:
  // Takes a measurement whose findings are not fine, without times.
  explicit WrongResult(Measurement untimed);
  const Measurement& measurement() const { return untimed_; }

 private:
  Measurement untimed_;
};

}  // namespace ferry::bench
