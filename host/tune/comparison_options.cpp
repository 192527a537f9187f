#include "host/tune/comparison_options.h"

#include "host/tune/recorded_schedules.h"

#include <algorithm>

namespace ferry::tune {

bench::CompareOptions comparison_options(const TuneOptions& options, const CallOptions& call, const std::string& target,
                                         double pair_seconds, std::optional<double> seconds) {
  constexpr double kMostSamples = 20, kLeastSamples = 5;
  bench::CompareOptions compare;
  compare.call = call;
  compare.target = target;
  compare.processes = options.processes;
  compare.least_effect = kLeastGain;
  double samples = kMostSamples;
  if (seconds && pair_seconds > 0) {
    const double pairs = std::max(0.0, *seconds) / pair_seconds;
    samples = std::clamp(pairs / options.processes, kLeastSamples, kMostSamples);
    const double processes = std::clamp<double>(pairs / samples, bench::kLeastProcesses, options.processes);
    compare.processes = static_cast<std::uint32_t>(processes);
  }
  compare.sampling.bench.repeat = static_cast<std::uint32_t>(samples);
  compare.sampling.bench.cores = options.cores;
  compare.sampling.bench.threads = options.threads;
  return compare;
}

}  // namespace ferry::tune
