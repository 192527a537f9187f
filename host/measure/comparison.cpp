#include "ferry/bench/comparison.h"

#include <algorithm>
#include <cmath>

#include "base/quantity_text.h"
#include "ferry/verify/findings.h"
#include "host/kernel/emulated.h"
#include "host/measure/paired_samples.h"
#include "host/measure/warnings.h"
#include "host/stats/summary.h"

namespace ferry::bench {

namespace {

// Whether every element was found right by a definition, so that no comparison with another kernel adds anything.
bool is_checked_in_full(const std::vector<verify::CheckResult>& checks) {
  return !checks.empty() && std::ranges::all_of(checks, [](const verify::CheckResult& check) {
    return check.compared == check.elements && check.unchecked == 0;
  });
}

}  // namespace

std::string KernelComparison::difference() const {
  const std::string between = verify::difference_text(outputs);
  for (const std::size_t kernel : {0, 1}) {
    for (const verify::CheckResult& check : checks[kernel]) {
      if (check.wrong == 0) continue;
      return between.empty() ? std::string(kernel == 0 ? "A: " : "B: ") + check.first_wrong : between;
    }
  }
  for (const std::size_t kernel : {0, 1})
    for (const verify::Probe& probe : probes[kernel])
      if (const std::string mistake = probe.mistake(); !mistake.empty()) return (kernel == 0 ? "A " : "B ") + mistake;
  const bool is_decided = has_one_definition && is_checked_in_full(checks[0]) && is_checked_in_full(checks[1]);
  return is_decided ? std::string() : between;
}

std::string KernelComparison::timed_mistake() const {
  for (const ComparedProcess& process : processes) {
    for (const std::size_t kernel : {0, 1})
      if (!process.mistakes[kernel].empty()) return std::string(kernel == 0 ? "A: " : "B: ") + process.mistakes[kernel];
    if (!process.difference.empty()) return "A and B: " + process.difference;
  }
  return {};
}

std::string KernelComparison::impossible() const {
  for (const std::size_t kernel : {0, 1}) {
    std::size_t count = 0;
    std::string why;
    for (const ComparedProcess& process : processes) {
      if (process.too_fast[kernel].empty()) continue;
      ++count;
      why = process.too_fast[kernel];
    }
    // Memory may have been slow in one process alone.
    if (count > processes.size() / 2) return std::string(kernel == 0 ? "A takes " : "B takes ") + why;
  }
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

TimedChecks KernelComparison::timed_checks(int kernel) const {
  TimedChecks all;
  for (const ComparedProcess& process : processes) all.add(process.checks[static_cast<std::size_t>(kernel)]);
  return all;
}

std::uint64_t KernelComparison::compared_calls() const {
  std::uint64_t count = 0;
  for (const ComparedProcess& process : processes) count += process.compared_calls;
  return count;
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
  if (!processes.empty() && !processes.front().unchecked.empty()) all.push_back(processes.front().unchecked);
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
