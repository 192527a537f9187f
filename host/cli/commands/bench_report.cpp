#include "host/cli/commands/bench_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/quantity_text.h"
#include "host/cli/options/target_option.h"
#include "host/measure/report/result_table.h"
#include "host/measure/timed_results.h"
#include "host/stats/outliers.h"
#include "host/stats/summary.h"
#include "host/text/style.h"
#include "module/manifest.h"

namespace ferry::cli {

namespace {

void line(const char* what, const std::string& value) { printf("  %-10s %s\n", what, value.c_str()); }

void line_in(text::Color color, const char* what, const std::string& value) {
  printf("  %s %s\n", text::painted(stdout, color, what + std::string(10 - std::strlen(what), ' ')).c_str(),
         value.c_str());
}

std::string percentiles_text(const Timing& timing) {
  const std::vector<double> ascending = stats::sorted(timing.seconds);
  std::vector<std::string> parts;
  for (const int percent : {5, 25, 75, 95}) {
    parts.push_back(std::to_string(percent) + "% " +
                    seconds_text(stats::quantile_of_sorted(ascending, percent / 100.0)));
  }
  return join(", ", parts);
}

// Returns "2 high severe, 1 low mild"; empty if there are none.
std::string outliers_text(const Timing& timing) {
  const auto labels = stats::label_outliers(timing.seconds);
  std::vector<std::string> parts;
  for (const auto label : {stats::OutlierLabel::low_severe, stats::OutlierLabel::low_mild,
                           stats::OutlierLabel::high_mild, stats::OutlierLabel::high_severe}) {
    const auto count = std::count(labels.begin(), labels.end(), label);
    if (count > 0) parts.push_back(std::to_string(count) + " " + to_text(label));
  }
  return join(", ", parts);
}

std::string runs_text(const bench::Measurement& report) {
  const Timing& timing = report.timing;
  std::string text = count_text(timing.seconds.size()) + " samples of " + count_text(timing.number) +
                     (timing.number == 1 ? " call" : " calls") + " each, after " + count_text(timing.warmup_calls) +
                     " to warm up";
  if (timing.first_s > 0) text += ", the first in " + seconds_text(timing.first_s);
  if (report.cold && timing.wiped_bytes == 0) text += "; the tensors flushed from the caches before each";
  if (report.cold && timing.wiped_bytes > 0)
    text += "; the caches wiped with " + bytes_text(timing.wiped_bytes) + " before each";
  return text;
}

std::string threads_text(const Timing& timing) {
  return "with " + std::to_string(timing.threads) + (timing.threads == 1 ? " thread" : " threads");
}

std::string speed_text(const bench::Measurement& report) {
  std::string text = rate_text(report.flops_per_second(), "FLOP/s");
  if (const auto share = report.share_of_flops()) {
    text += ", " + percent_text(*share) + " of the " + rate_text(report.peak.flops, "FLOP/s") +
            " measured with multiply-adds of " + dtype_name(report.peak_dtype) + " on this device, " +
            threads_text(report.timing);
    if (*share > bench::kMostOfPeak) text += "; see the warning";
  }
  return text;
}

std::string memory_text(const bench::Measurement& report) {
  std::string text = rate_text(report.bytes_per_second(), "B/s");
  if (const auto share = report.share_of_bytes()) {
    text += ", " + percent_text(*share) + " of the " + rate_text(report.peak.bytes, "B/s") +
            " measured with a copy of that size on this device, " + threads_text(report.timing);
    if (*share > bench::kMostOfPeak) text += "; see the warning";
  }
  return text;
}

std::string counters_text(const Timing& timing, const bench::Environment& environment) {
  if (!environment.counters_missing.empty()) return "not available: " + environment.counters_missing;
  std::vector<std::string> parts;
  const auto add = [&](double value, const char* unit) {
    if (!std::isnan(value)) parts.push_back(number_text(value, 4) + " " + unit);
  };
  add(timing.cycles, "cycles");
  add(timing.instructions, "instructions");
  add(timing.instructions / timing.cycles, "a cycle");
  add(timing.cache_misses, "cache misses");
  return join(", ", parts) + "; a call, in user mode";
}

// Returns what the board reported, and in one line the names of what it did not.
std::string board_text(const bench::Environment& environment, double elapsed_s) {
  std::vector<std::string> parts;
  const bench::Quantity& frequency = environment.at("frequency_hz");
  if (frequency.before) {
    parts.push_back(number_text(*frequency.before * 1e-9, 3) + " -> " + number_text(*frequency.after * 1e-9, 3) +
                    " GHz" + (environment.governor_after.empty() ? "" : " (" + environment.governor_after + ")"));
  }
  const bench::Quantity& temperature = environment.at("temperature_c");
  if (temperature.before) {
    parts.push_back(number_text(*temperature.before, 3) + " -> " + number_text(*temperature.after, 3) + " C");
  }
  if (const auto energy = environment.increase("energy_j")) {
    parts.push_back(number_text(*energy) + " J, " + number_text(*energy / elapsed_s) + " W");
  } else if (const auto power = environment.at("power_w").after) {
    parts.push_back(number_text(*power) + " W");
  }
  const bench::Quantity& gpu_clock = environment.at("gpu_clock_hz");
  if (gpu_clock.before) {
    parts.push_back("GPU " + number_text(*gpu_clock.before * 1e-6, 4) + " -> " +
                    number_text(*gpu_clock.after * 1e-6, 4) + " MHz");
  }
  const bench::Quantity& gpu_temperature = environment.at("gpu_temperature_c");
  if (gpu_temperature.after) parts.push_back("GPU " + number_text(*gpu_temperature.after, 3) + " C");
  if (const auto load = environment.at("load").before) parts.push_back("load " + number_text(*load, 2));
  std::vector<std::string> missing;
  for (const char* name : {"frequency_hz", "temperature_c", "energy_j"}) {
    if (!environment.at(name).before) missing.push_back(std::string(name).substr(0, std::string(name).rfind('_')));
  }
  std::string text = join(", ", parts);
  if (!missing.empty()) text += (text.empty() ? "" : "; ") + std::string("not available: ") + join(", ", missing);
  return text;
}

}  // namespace

std::string secret_text(const SecretSeed& secret) {
  return "what was new in each call is that of --secret-seed " + to_text(secret);
}

std::string new_inputs_text(const SecretSeed& secret) {
  return "drawn for each call, as --secret-seed " + to_text(secret) + " repeats";
}

std::string inputs_text(std::uint64_t seed) { return "random inputs are those of --seed " + std::to_string(seed); }

void print_report(const bench::Measurement& report, const std::optional<bench::Change>& change, bool verbose) {
  const Timing& timing = report.timing;
  printf("%s\n", report.function.signature.c_str());
  if (!report.function.sizes.empty()) line("sizes", bench::sizes_text(report));
  line("device", report.device + (report.processor.empty() ? "" : ", " + report.processor));
  if (!report.knobs.empty()) line("knobs", bench::knobs_text(report));
  line("target", target_text(report.target, verbose));
  line("threads", std::to_string(timing.threads));
  line("runs", runs_text(report));
  line("isolation", bench::isolation_text(timing));
  if (timing.fresh_inputs && report.secret.exists()) line("new inputs", new_inputs_text(report.secret));
  if (timing.inspected) line("outputs", bench::looked_at_text(timing));
  if (const std::string checked = bench::checked_text(report.timed_checks); !checked.empty()) line("checked", checked);
  if (!report.constants.empty()) line("constants", join(", ", report.constants) + ", bound before the clock ran");
  line("median", seconds_text(timing.median()) + ", 95% interval " + bench::interval_text(report));
  if (change) line("baseline", to_text(*change));
  line("deviation", seconds_text(timing.deviation()) + ", median absolute");
  line("minimum", seconds_text(timing.minimum()) + "; " + percentiles_text(timing));
  if (const std::string outliers = outliers_text(timing); !outliers.empty()) line("outliers", outliers + "; kept");
  if (report.flops > 0) line("speed", speed_text(report));
  line("memory", memory_text(report));
  const bench::Environment environment = report.environment();
  line("counters", counters_text(timing, environment));
  line("board", board_text(environment, timing.elapsed_s));
  for (const std::string& warning : report.warnings()) line_in(text::Color::yellow, "warning", warning);
  print_steps(report.steps, report.peak);
}

}  // namespace ferry::cli
