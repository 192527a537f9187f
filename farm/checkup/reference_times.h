// Runs the reference jobs in one session and takes their times.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "farm/checkup/reference_module.h"
#include "farm/core/health/health_judge.h"
#include "ferry/client.h"

namespace ferry::farm {

// How long a session measures.
struct ReferenceEffort {
  std::uint32_t samples = 10;
  double sample_ms = 5;
  double job_limit_ms = 3000;  // no sample starts later
  std::uint32_t pings = 101;
};

struct SessionTimes {
  HealthTimes times{};  // medians
  HealthEnvironment environment;
  std::optional<std::int32_t> millidegrees;  // the hottest zone's before the jobs
};

// A job could not be run, or gave wrong results.
class JobFailed : public std::runtime_error {
 public:
  JobFailed(HealthMetric job, const std::string& why) : std::runtime_error(why), job_(job) {}
  HealthMetric job() const { return job_; }

 private:
  HealthMetric job_;
};

// `place` names where round trips start: those from elsewhere are of another environment. Throws JobFailed for wrong
// results, and Error as the session does; `running` says then which job was running.
SessionTimes take_reference_times(const Device& device, const CompiledModule& module, const ReferenceSizes& sizes,
                                  const ReferenceEffort& effort, const std::string& place, HealthMetric& running);

}  // namespace ferry::farm
