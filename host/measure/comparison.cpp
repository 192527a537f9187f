#include "ferry/bench/comparison.h"

#include <algorithm>
#include <cmath>

#include "base/quantity_text.h"
#include "ferry/verify/findings.h"
#include "host/measure/paired_samples.h"
#include "host/measure/warnings.h"
#include "host/stats/summary.h"

namespace ferry::bench {

std::string KernelComparison::difference() const { return verify::difference_text(outputs); }

std::string KernelComparison::impossible() const {
  for (const ComparedProcess& process : processes) {
    if (!std::isnan(process.log_ratio)) continue;
    for (const int kernel : {0, 1}) {
      const std::vector<double>& samples = process.timings[kernel].seconds;
      const auto count = samples.size() - static_cast<std::size_t>(std::ranges::count_if(samples, takes_time));
      const std::string name = kernel == 0 ? "A" : "B";
      if (samples.empty()) return "a process has no samples of " + name;
      if (count > 0)
        return count_text(count) + " of " + count_text(samples.size()) + " samples of " + name + " took no time";
    }
  }
  return {};
}

double KernelComparison::median(int kernel) const {
  std::vector<double> medians;
  for (const ComparedProcess& process : processes) medians.push_back(process.timings[kernel].median());
  return stats::median(medians);
}

double KernelComparison::instructions(int kernel) const {
  std::vector<double> counts;
  for (const ComparedProcess& process : processes)
    if (process.timings[kernel].instructions > 0) counts.push_back(process.timings[kernel].instructions);
  return counts.empty() ? std::nan("") : stats::median(counts);
}

std::vector<std::string> KernelComparison::warnings() const {
  std::vector<std::string> all = weaknesses;
  if (is_emulated(facts.facts)) all.emplace_back(kEmulatedWarning);
  std::size_t hit = 0, samples = 0;
  for (const ComparedProcess& process : processes) {
    for (const Timing& timing : process.timings) {
      samples += timing.switches.size();
      for (const std::uint32_t count : timing.switches) hit += count > 0 ? 1 : 0;
    }
  }
  if (hit > samples / 2) {
    all.push_back(count_text(hit) + " of " + count_text(samples) + " samples hit by context switches");
  }
  return all;
}

}  // namespace ferry::bench
