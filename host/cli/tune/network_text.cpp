#include "host/cli/tune/network_text.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/cli/tune/trial_text.h"
#include "host/tune/recorded_schedules.h"

namespace ferry::cli {

namespace {

using tune::KernelState;
using tune::NetworkKernelResult;
using tune::TunedNetwork;

std::string interval_text(const stats::Comparison& times) {
  return fixed_text(times.ratio, 2) + " [" + fixed_text(times.low, 2) + ", " + fixed_text(times.high, 2) + "]";
}

// Returns a line for each kernel that ran in the network with another schedule, the longest first.
std::string kernel_lines(const TunedNetwork& tuned) {
  std::vector<const NetworkKernelResult*> tried;
  for (const NetworkKernelResult& kernel : tuned.kernels)
    if (!kernel.point.empty()) tried.push_back(&kernel);
  std::ranges::stable_sort(tried, std::greater<>(), &NetworkKernelResult::seconds);
  std::string text;
  for (const NetworkKernelResult* kernel : tried) {
    text += "  " + printable(kernel->kernel) + ", " + seconds_text(kernel->seconds) + ": " +
            tune::gain_text(kernel->share_in_network) + " times as fast in the network, " +
            tune::gain_text(kernel->best_share) + " by itself";
    if (!kernel->point_algorithm.empty())
      text += ", with the algorithm " + kernel->point_algorithm + " in place of " + kernel->algorithm;
    text += kernel->is_used ? "\n" : ", not used\n";
  }
  return text;
}

// Returns a line for each algorithm that was tried in place of another one.
std::string algorithm_lines(const TunedNetwork& tuned) {
  std::string text;
  for (const NetworkKernelResult& kernel : tuned.kernels)
    for (const tune::AlgorithmResult& other : kernel.others)
      if (other.trials > 0)
        text += "  " + printable(kernel.kernel) + " with the algorithm " + other.algorithm + ": " +
                tune::gain_text(other.best_share) + " times as fast by itself as the default, " + kernel.algorithm +
                ", and by estimates " + tune::gain_text(other.estimated_share) + "\n";
  return text;
}

// Returns what became of other layouts of the network's images.
std::string layouts_line(const TunedNetwork& tuned) {
  if (!tuned.layouts) return "";
  const tune::MeasuredLayouts& layouts = *tuned.layouts;
  if (layouts.changed() == 0)
    return "  the default layouts are the best by the times of " + count_text(layouts.groups) + " groups in both\n";
  return "  with other layouts of " + count_text(layouts.changed()) + " groups the network is " +
         tune::gain_text(layouts.share_in_network) + " times as fast" + (layouts.is_used ? "\n" : ", not used\n");
}

text::Json algorithm_json(const tune::AlgorithmResult& other) {
  text::Json json = {{"algorithm", other.algorithm},
                     {"state", tune::kernel_state_name(other.state)},
                     {"estimated_share", other.estimated_share},
                     {"trials", other.trials}};
  if (other.trials > 0) json["best_share"] = other.best_share;
  if (!other.reason.empty()) json["reason"] = other.reason;
  return json;
}

text::Json kernel_json(const NetworkKernelResult& kernel) {
  text::Json json = {
      {"kernel", kernel.kernel},           {"nodes", kernel.nodes},   {"state", tune::kernel_state_name(kernel.state)},
      {"default_seconds", kernel.seconds}, {"trials", kernel.trials}, {"best_share", kernel.best_share},
      {"is_used", kernel.is_used}};
  if (!kernel.reason.empty()) json["reason"] = kernel.reason;
  if (kernel.estimate > 0) json["estimated_seconds"] = kernel.estimate;
  if (!kernel.algorithm.empty()) json["algorithm"] = kernel.algorithm;
  for (const tune::AlgorithmResult& other : kernel.others) json["others"].push_back(algorithm_json(other));
  if (!kernel.point.empty()) {
    json["point"] = kernel.point;
    json["share_in_network"] = kernel.share_in_network;
  }
  if (!kernel.point_algorithm.empty()) json["point_algorithm"] = kernel.point_algorithm;
  return json;
}

}  // namespace

std::string network_text(const TunedNetwork& tuned, const std::string& records) {
  const tune::Progress& progress = tuned.progress;
  const auto count = [&](KernelState state) {
    return static_cast<std::size_t>(std::ranges::count(tuned.kernels, state, &NetworkKernelResult::state));
  };
  std::string text = count_text(progress.count()) + " points of " + count_text(count(KernelState::tuned)) +
                     (count(KernelState::tuned) == 1 ? " kernel in " : " kernels in ") +
                     seconds_text(progress.seconds) + " (" + rate_text(progress) + ")" + failures_text(progress) +
                     "; " + count_text(count(KernelState::pruned)) + " kernels with little to gain, " +
                     count_text(count(KernelState::fixed)) + " without knobs";
  if (count(KernelState::waiting) > 0) text += ", " + count_text(count(KernelState::waiting)) + " without a turn";
  text += "\n" + kernel_lines(tuned);
  text += layouts_line(tuned) + algorithm_lines(tuned);
  for (const NetworkKernelResult& kernel : tuned.kernels)
    if (kernel.state == KernelState::failed)
      text += "  " + printable(kernel.kernel) + " cannot be tuned: " + kernel.reason + "\n";
  if (tuned.is_faster)
    text +=
        tuned.function + ": " + interval_text(tuned.comparison->times) + " times as fast as with default schedules\n";
  else if (tuned.comparison)
    text += tuned.function + " keeps its default schedules: the others make it " +
            interval_text(tuned.comparison->times) + " times as fast\n";
  else if (!tuned.is_interrupted)
    text += "no kernel became faster in the network by 1% or more\n";
  if (!records.empty()) text += "recorded in " + records + "\n";
  if (tuned.is_interrupted)
    text += "interrupted before the network was compared, so nothing uses what was found yet; a second start goes on\n";
  return text;
}

text::Json network_json(const TunedNetwork& tuned, const std::string& records) {
  text::Json kernels = text::Json::array();
  for (const NetworkKernelResult& kernel : tuned.kernels) kernels.push_back(kernel_json(kernel));
  text::Json json = {{"schema", "ferry.tuned_network/1"},
                     {"function", tuned.function},
                     {"is_faster", tuned.is_faster},
                     {"is_interrupted", tuned.is_interrupted},
                     {"records", records},
                     {"progress", progress_json(tuned.progress)},
                     {"kernels", kernels},
                     {"other_seconds", tuned.other_seconds}};
  if (tuned.layouts) {
    json["layouts"] = {{"measured", tuned.layouts->groups}, {"changed", tuned.layouts->changed()}};
    if (tuned.layouts->changed() > 0) {
      json["layouts"]["share_in_network"] = tuned.layouts->share_in_network;
      json["layouts"]["is_used"] = tuned.layouts->is_used;
    }
  }
  if (tuned.comparison && !tuned.comparison->processes.empty()) {
    const stats::Comparison& times = tuned.comparison->times;
    json["default_seconds"] = tuned.comparison->median(0);
    json["seconds"] = tuned.comparison->median(1);
    json["ratio"] = times.ratio;
    json["ratio_interval_99"] = {times.low, times.high};
  }
  return json;
}

}  // namespace ferry::cli
