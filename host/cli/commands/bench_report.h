// The results of bench, as text, tables and JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/bench/measurement.h"
#include "host/measure/baseline.h"
#include "host/text/json.h"

namespace ferry::cli {

// The reason why one of several devices has no result, or not for all sizes.
struct BenchFailure {
  std::string device;
  std::string code;  // error_name(), or "kernel_failed", "wrong_result", "usage", "compile"
  std::string message;
  int exit_code = 0;
  std::optional<bench::Measurement> wrong;  // without times: its findings are why there are none
};
struct BenchRun {
  std::vector<bench::Measurement> reports;
  std::vector<std::optional<bench::Change>> changes;  // from the baseline, one for each report; empty without one
  std::vector<BenchFailure> failures;
  bool is_interrupted = false;
  std::uint64_t seed = 0;  // random inputs are drawn from it
};

// The schema of docs/json.md; its name changes whenever the change would mislead readers of the old one.
inline constexpr const char* kBenchSchema = "ferry.bench/1";
text::Json to_json(const BenchRun& run);
// Returns the JSON of the samples and of everything the device reported; the JSON of compare contains it too.
text::Json timing_json(const Timing& timing);
text::Json environment_json(const Timing& timing);
text::Json secret_json(const SecretSeed& secret);  // null if there is none
// Null if nothing was held against a definition.
text::Json timed_checks_json(const bench::TimedChecks& checks);
text::Json sizes_json(const bench::MeasuredFunction& function);

// Returns "random inputs are those of --seed 7".
std::string inputs_text(std::uint64_t seed);
// Returns "what was new in each call is that of --secret-seed 0123...".
std::string secret_text(const SecretSeed& secret);
// "drawn for each call, as --secret-seed 1234 repeats"
std::string new_inputs_text(const SecretSeed& secret);

void print_report(const bench::Measurement& report, const std::optional<bench::Change>& change, bool verbose);
// Prints the steps of a call: their shares of its time, and of a network what they compute and how fast, also as shares
// of the device's peaks if these are known. Prints nothing for a function that is one call of native code.
void print_steps(const std::vector<StepTime>& steps, const bench::Peak& peak = {});
text::Json steps_json(const std::vector<StepTime>& steps);
// Prints one line for each report, with the warnings below.
void print_table(const BenchRun& run);
// Returns the same as comma-separated values, with every digit.
std::string bench_csv(const BenchRun& run);

}  // namespace ferry::cli
