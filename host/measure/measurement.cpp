#include "ferry/bench/measurement.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/kernel/emulated.h"
#include "host/kernel/node_names.h"
#include "host/measure/memory_floor.h"
#include "host/measure/warnings.h"
#include "host/stats/summary.h"

namespace ferry::bench {

namespace {

std::optional<double> share(double rate, double best) {
  if (rate <= 0 || best <= 0) return std::nullopt;
  return rate / best;
}

// Returns a sentence about the steps of a call whose rates exceed a peak; empty if none does.
std::string steps_beyond(const Measurement& measurement) {
  double most = 0;
  std::string which;
  std::size_t count = 0;
  for (const StepTime& step : measurement.steps) {
    // The peaks are those of the first device.
    const double seconds = step.device == 0 ? stats::median(step.seconds) : 0;
    if (seconds <= 0) continue;
    const double flops = share(step.flops / seconds, measurement.peak.flops).value_or(0),
                 bytes = share(step.bytes / seconds, measurement.peak.bytes).value_or(0);
    const double beyond = std::max(flops, bytes);
    if (beyond <= kMostOfPeak) continue;
    ++count;
    if (beyond <= most) continue;
    most = beyond;
    which = percent_text(beyond) + (flops > bytes ? " of the peak of arithmetic" : " of a copy's rate") + " for '" +
            printable(short_node_name(step.node.empty() ? step.kernel : step.node)) + "'";
  }
  // A call of one step is warned of as a whole.
  if (count == 0 || measurement.steps.size() == 1) return "";
  return std::to_string(count) + (count == 1 ? " step exceeds" : " steps exceed") + " a peak, with " + which +
         ": its tensors lie in caches or are only used in part, or the peak was measured too low, so do not go by the "
         "share";
}

}  // namespace

stats::Interval Measurement::interval() const { return stats::median_interval(timing.seconds); }

std::optional<double> Measurement::share_of_flops() const { return share(flops_per_second(), peak.flops); }

std::optional<double> Measurement::share_of_bytes() const { return share(bytes_per_second(), peak.bytes); }

std::string Measurement::impossible() const { return too_fast(timing, moved_bytes, peak.bytes); }

std::vector<std::string> Measurement::warnings() const {
  std::vector<std::string> all = findings.warnings;
  if (const std::string why = impossible(); !why.empty()) all.push_back("impossible: " + why);
  std::ranges::move(bench::warnings(timing, environment(), facts.logical_cores), std::back_inserter(all));
  if (is_emulated(facts)) all.insert(all.begin(), kEmulatedWarning);
  // A rate above the measured peak shows that this was not the peak, or was not measured under the same conditions.
  const auto beyond = [&](std::optional<double> of_peak, const char* what, const std::string& why) {
    if (!of_peak || *of_peak <= kMostOfPeak) return;
    all.push_back(percent_text(*of_peak) + " of the peak of " + what + ": the peak was measured too low, or " + why +
                  ", so do not go by the share");
  };
  beyond(share_of_flops(), "arithmetic", "the compiler saves operations of the definition");
  beyond(share_of_bytes(), "memory", "the kernel uses only a part of its tensors");
  if (std::string sentence = steps_beyond(*this); !sentence.empty()) all.push_back(std::move(sentence));
  return all;
}

std::string name_of(const Measurement& measurement) {
  std::vector<std::string> parts = {measurement.function.name};
  for (const auto& [name, size] : measurement.function.sizes) parts.push_back(name + "=" + std::to_string(size));
  for (const auto& [name, value] : measurement.knobs) parts.push_back(name + "=" + value);
  return join(", ", parts);
}

WrongResult::WrongResult(Measurement untimed)
    : KernelFailed(name_of(untimed) +
                   (untimed.findings.timed.empty() ? ": wrong result, so it was not measured: " : ": wrong ") +
                   untimed.findings.mistake()),
      untimed_(std::move(untimed)) {}

}  // namespace ferry::bench
