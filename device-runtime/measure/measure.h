// Times something that can be done again and again. Raw samples come out: statistics are the client's business.
#pragma once

#include "rpc/base/status.h"

#include <cstdint>
#include <vector>

namespace ferry::device {

struct MeasurePlan {
  std::uint32_t number = 1;  // calls a sample, at least
  std::uint32_t repeat = 1;  // samples
  double min_repeat_ms = 0;  // a sample is raised in calls until it lasts this long
  double warmup_ms = 0;      // calls before the first sample, for at least this long
};

struct Measurement {
  std::vector<double> seconds;  // a call, one entry a sample
  std::uint64_t number = 0;     // calls a sample, as it came out
  std::uint64_t warmup_calls = 0;
};

inline constexpr std::uint32_t kMaxRepeat = 1'000'000;
inline constexpr double kMaxMilliseconds = 3'600'000;

// What is timed. A failure ends the measurement.
class Workload {
 public:
  virtual ~Workload() = default;
  // One call; 0 when it went well.
  virtual std::int32_t run() = 0;
};

struct MeasureOutcome {
  std::int32_t failure = 0;  // the workload's first non-zero result; the measurement then means nothing
  Measurement measurement;
};

// invalid_argument when the plan is outside the limits above. The reading of the clock itself is taken off every
// sample.
Result<MeasureOutcome> measure(const MeasurePlan& plan, Workload& workload);

}  // namespace ferry::device
