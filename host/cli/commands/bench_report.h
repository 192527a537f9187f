// The results of bench, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "host/cli/commands/peak.h"
#include "host/cli/options/environment.h"
#include "host/cli/output/json.h"
#include "host/session/ferry.h"

namespace ferry::cli {

// The measurement of one kernel for one size on one device.
struct BenchReport {
  FunctionInfo function;
  std::vector<std::int64_t> symbols;  // in the order of the function's symbols
  std::string device, processor;
  DeviceFacts facts;
  std::string target;
  Timing timing{};
  double flops = 0;  // operations of one call; 0: unknown
  double bytes = 0;  // traffic of one call, each tensor counted once
  Peak peak{};       // zeros: not measured
  DType peak_dtype = DType::f32;
  bool cold = false;
  std::vector<std::string> constants{};  // the function's inputs that were packed before the measurement
  std::vector<StepTime> steps{};         // kernels of one call, if a GPU timed each

  double flops_per_second() const { return flops / timing.median(); }
  double bytes_per_second() const { return bytes / timing.median(); }
  std::string sizes_text() const;  // "M=512, N=512"
  std::vector<std::string> warned() const;
};

// The reason why one of several devices has no report, or not for all sizes.
struct BenchFailure {
  std::string device;
  std::string code;  // error_name(), or "kernel_failed", "usage", "compile"
  std::string message;
  int exit_code = 0;
};
struct BenchRun {
  std::vector<BenchReport> reports;
  std::vector<BenchFailure> failures;
};

// The schema of docs/measuring.md; its name changes whenever the change would mislead readers of the old one.
inline constexpr const char* kBenchSchema = "ferry.bench/1";
Json to_json(const BenchRun& run);
// Returns the JSON of the samples and of everything the device reported; the JSON of compare contains it too.
Json timing_json(const Timing& timing);
Json environment_json(const Timing& timing);

void print_report(const BenchReport& report);
// Prints the kernels of a call on a GPU and their shares of its time; prints nothing if there are none.
void print_steps(const std::vector<StepTime>& steps);
Json steps_json(const std::vector<StepTime>& steps);
// Prints one line for each report.
void print_table(const std::vector<BenchReport>& reports);

}  // namespace ferry::cli
