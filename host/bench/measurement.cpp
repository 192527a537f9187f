#include "host/bench/measurement.h"

#include "base/quantity_text.h"
#include "host/bench/warnings.h"

namespace ferry::bench {

namespace {

std::optional<double> share(double rate, double best) {
  if (rate <= 0 || best <= 0) return std::nullopt;
  return rate / best;
}

}  // namespace

stats::Interval Measurement::interval() const { return stats::median_interval(timing.seconds); }

std::optional<double> Measurement::share_of_flops() const { return share(flops_per_second(), peak.flops); }

std::optional<double> Measurement::share_of_bytes() const { return share(bytes_per_second(), peak.bytes); }

std::vector<std::string> Measurement::warnings() const {
  std::vector<std::string> all = bench::warnings(timing, environment(), facts.logical_cores);
  if (is_emulated(facts)) all.insert(all.begin(), kEmulatedWarning);
  for (const verify::CheckResult& check : checks) {
    if (check.wrong > 0) all.push_back("wrong result: " + check.first_wrong);
  }
  // A rate above the measured peak shows that this was not the peak, or was not measured under the same conditions.
  const auto beyond = [&](std::optional<double> of_peak, const char* what, const std::string& why) {
    if (!of_peak || *of_peak <= kMostOfPeak) return;
    all.push_back(percent_text(*of_peak) + " of the peak of " + what + ": the peak was measured too low, or " + why +
                  ", so do not go by the share");
  };
  beyond(share_of_flops(), "arithmetic", "the compiler saves operations of the definition");
  beyond(share_of_bytes(), "memory", "the kernel uses only a part of its tensors");
  return all;
}

}  // namespace ferry::bench
