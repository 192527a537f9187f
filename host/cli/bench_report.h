// What bench found, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "host/cli/circumstances.h"
#include "host/cli/json.h"
#include "host/cli/peak.h"
#include "host/session/ferry.h"

namespace ferry::cli {

// One kernel of one size on one device.
struct BenchReport {
  FunctionInfo function;
  std::vector<std::int64_t> symbols;  // in the order of the function's
  std::string device, processor;
  DeviceFacts facts;
  std::string target;
  Timing timing{};
  double flops = 0;  // of one call; 0: unknown
  double bytes = 0;  // of one call: every tensor once
  Peak peak{};       // zeros: not measured
  DType peak_dtype = DType::f32;
  bool cold = false;
  std::vector<std::string> constants{};  // the function's inputs that were rearranged before the clock ran
  std::vector<StepTime> steps{};         // the kernels of one call, where a GPU timed each

  double flops_per_second() const { return flops / timing.median(); }
  double bytes_per_second() const { return bytes / timing.median(); }
  std::string sizes_text() const;  // "M=512, N=512"
  std::vector<std::string> warned() const;
};

// Why a device of several has no report, or not those of all sizes.
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

// The schema of docs/measuring.md; its name changes when a reader of the old one would be misled.
inline constexpr const char* kBenchSchema = "ferry.bench/1";
Json to_json(const BenchRun& run);
// Of the samples and all the device told; also in the JSON of compare.
Json timing_json(const Timing& timing);
Json circumstances_json(const Timing& timing);

void print_report(const BenchReport& report);
// The kernels of a call on a GPU and their shares of it; nothing without any.
void print_steps(const std::vector<StepTime>& steps);
Json steps_json(const std::vector<StepTime>& steps);
// One line each.
void print_table(const std::vector<BenchReport>& reports);

}  // namespace ferry::cli
