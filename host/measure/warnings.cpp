#include "host/measure/warnings.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/quantity_text.h"
#include "host/stats/convergence.h"
#include "host/stats/outliers.h"

namespace ferry::bench {

namespace {

constexpr double kFrequencyMoved = 0.05, kDrifted = 0.05, kUncertain = 0.05, kHot = 80;
// In shorter samples the clock resolution alone causes an error of more than a hundredth.
constexpr double kClockSteps = 100;

// Beyond so much, the caches that a call by itself finds colder do not explain that it takes longer.
constexpr double kLeastAlone = 10e-6, kMostAlone = 3;

using Sentences = std::vector<std::string>;

std::string of_samples(std::size_t count, const Timing& timing) {
  return std::to_string(count) + " of " + std::to_string(timing.seconds.size()) + " samples";
}

void about_samples(const Timing& timing, Sentences& all) {
  const auto hit = static_cast<std::size_t>(
      std::count_if(timing.switches.begin(), timing.switches.end(), [](std::uint32_t count) { return count > 0; }));
  if (hit > 0) all.push_back(of_samples(hit, timing) + " hit by context switches");
  const std::set<std::uint32_t> cores(timing.cores.begin(), timing.cores.end());
  if (cores.size() > 1) all.push_back("the measurement moved between " + std::to_string(cores.size()) + " cores");
  std::size_t severe = 0;
  for (const stats::OutlierLabel label : stats::label_outliers(timing.seconds)) {
    severe += label == stats::OutlierLabel::high_severe || label == stats::OutlierLabel::low_severe ? 1 : 0;
  }
  if (severe > 0)
    all.push_back(of_samples(severe, timing) + (severe == 1 ? " is a severe outlier" : " are severe outliers"));
  const double uncertainty = stats::relative_uncertainty(timing.seconds), drift = stats::drift(timing.seconds);
  if (std::abs(drift) > std::max(kDrifted, 2 * timing.deviation() / timing.median())) {
    all.push_back("times drifted by " + std::string(drift > 0 ? "+" : "-") + percent_text(std::abs(drift)) +
                  " from the first to the last third");
  }
  if (timing.ended == TimingEnd::timeout) {
    all.push_back("stopped by the timeout after " + count_text(timing.seconds.size()) +
                  (timing.seconds.size() == 1 ? " sample" : " samples"));
  }
  if (std::isinf(uncertainty)) {
    all.push_back("too few samples to say how well the median is known");
  } else if (uncertainty > kUncertain) {
    all.push_back("the median is known to " + percent_text(uncertainty) + " only");
  }
  if (timing.alone_s > kLeastAlone && timing.alone_s > kMostAlone * timing.median()) {
    all.push_back("a call by itself takes " + seconds_text(timing.alone_s) + ", and " + seconds_text(timing.median()) +
                  " among others: it may do work once for several calls");
  }
  const double shortest = timing.minimum() * static_cast<double>(timing.number);
  if (shortest < kClockSteps * static_cast<double>(timing.clock_resolution_ns) * 1e-9) {
    all.push_back("samples of " + seconds_text(shortest) + " are short for a clock that steps by " +
                  seconds_text(static_cast<double>(timing.clock_resolution_ns) * 1e-9));
  }
}

// Bits of the firmware's status word (Raspberry Pi documentation, "get_throttled").
void about_raspberry_pi(double word, Sentences& all) {
  constexpr struct {
    unsigned bit;
    const char* what;
  } kNow[] = {{0, "under-voltage"}, {1, "frequency capped"}, {2, "throttled"}, {3, "soft temperature limit"}};
  Sentences set;
  for (const auto& flag : kNow) {
    if ((static_cast<unsigned long long>(word) >> flag.bit & 1) != 0) set.emplace_back(flag.what);
  }
  if (!set.empty()) all.push_back("the board slows itself down: " + join(", ", set));
}

// nvmlClocksThrottleReasons that slow a GPU down against the requested clocks.
void about_gpu(const Environment& board, Sentences& all) {
  constexpr struct {
    unsigned bit;
    const char* what;
  } kReasons[] = {{2, "its power limit"},
                  {3, "a fault of power or heat"},
                  {5, "its temperature limit"},
                  {6, "too much heat"},
                  {7, "the power supply"}};
  Sentences set;
  const Quantity& reasons = board.at("gpu_throttle_reasons");
  const auto word = static_cast<unsigned long long>(reasons.before.value_or(0)) |
                    static_cast<unsigned long long>(reasons.after.value_or(0));
  for (const auto& reason : kReasons) {
    if ((word >> reason.bit & 1) != 0) set.emplace_back(reason.what);
  }
  if (!set.empty()) all.push_back("the GPU was slowed down by " + join(", ", set));
  const Quantity& clock = board.at("gpu_clock_hz");
  if (clock.before && *clock.before > 0 && std::abs(*clock.after / *clock.before - 1) > kFrequencyMoved) {
    all.push_back("the GPU's clock moved " + number_text(*clock.before * 1e-6, 4) + " -> " +
                  number_text(*clock.after * 1e-6, 4) + " MHz");
  }
}

void about_the_board(const Environment& board, unsigned processors, double elapsed_s, Sentences& all) {
  const Quantity& frequency = board.at("frequency_hz");
  if (frequency.before && std::abs(*frequency.after / *frequency.before - 1) > kFrequencyMoved) {
    all.push_back("frequency moved " + number_text(*frequency.before * 1e-9, 2) + " -> " +
                  number_text(*frequency.after * 1e-9, 2) + " GHz");
  }
  if (board.governor_before != board.governor_after) {
    all.push_back("the governor changed from " + board.governor_before + " to " + board.governor_after);
  } else if (!board.governor_after.empty() && board.governor_after != "performance") {
    all.push_back("the governor '" + board.governor_after + "' may change the frequency at any time");
  }
  if (board.increase("throttle_count").value_or(0) > 0) all.push_back("the processor was throttled meanwhile");
  const Quantity& cooling = board.at("cooling_state");
  if (std::max(cooling.before.value_or(0), cooling.after.value_or(0)) > 0) {
    all.push_back("the processor is slowed down to cool it");
  }
  if (const auto flags = board.at("pi_throttled").after) about_raspberry_pi(*flags, all);
  const double hottest = board.at("temperature_c").after.value_or(0);
  if (hottest > kHot) all.push_back("temperature " + number_text(hottest, 2) + " C");
  const double load = board.at("load").before.value_or(0);
  if (load > processors) {
    all.push_back("load " + number_text(load, 2) + " on " + std::to_string(processors) +
                  (processors == 1 ? " processor" : " processors"));
  }
  const double stolen = board.increase("steal_s").value_or(0);
  if (stolen > 0.01 * elapsed_s * processors) {
    all.push_back("the virtual machine waited " + seconds_text(stolen) + " for its processors");
  }
}

}  // namespace

std::vector<std::string> warnings(const Timing& timing, const Environment& environment, unsigned processors) {
  Sentences all;
  about_samples(timing, all);
  const Sentences board = board_warnings(timing, environment, processors);
  all.insert(all.end(), board.begin(), board.end());
  return all;
}

std::vector<std::string> board_warnings(const Timing& timing, const Environment& environment, unsigned processors) {
  Sentences all;
  if (timing.small_pages) {
    all.emplace_back(
        "the device's system has no huge pages for memory of 4 MiB or more that processes share: a kernel that reads "
        "or writes so much takes longer here than without isolation");
  }
  about_the_board(environment, processors, timing.elapsed_s, all);
  about_gpu(environment, all);
  return all;
}

}  // namespace ferry::bench
