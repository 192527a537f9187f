#include "host/cli/tune/trial_text.h"

#include <cstdio>

#include "base/hex.h"
#include "base/quantity_text.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/records/record_text.h"

namespace ferry::cli {

namespace {

// Returns the lines of a point, indented.
std::string point_lines(const std::string& point) {
  std::string text = "  ";
  for (const char c : point) {
    text += c;
    if (c == '\n') text += "  ";
  }
  while (text.ends_with(' ')) text.pop_back();
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text;
}

// Adds what the device can do at best, by the names of bench.
void add_roofline(const tune::Tuned& tuned, text::Json& json) {
  if (!tuned.progress.roofline) return;
  const bench::Roofline& roofline = *tuned.progress.roofline;
  json["flops"] = roofline.flops;
  json["bytes"] = roofline.bytes;
  json["peak_flops_per_second"] = roofline.peak.flops;
  json["peak_bytes_per_second"] = roofline.peak.bytes;
  json["bound_by"] = roofline.is_limited_by_memory() ? "memory" : "arithmetic";
  if (!tuned.best.time) return;
  json["share_of_peak"] = roofline.share(tuned.best.time->seconds);
  json["default_share_of_peak"] = roofline.share(tuned.best.default_time->seconds);
}

}  // namespace

std::string fixed_text(double value, int digits) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

text::Json progress_json(const tune::Progress& progress) {
  text::Json trials = text::Json::object();
  for (const auto& [outcome, count] : progress.trials) trials[tune::outcome_name(outcome)] = count;
  text::Json json = {{"elapsed_seconds", progress.seconds}, {"trials", trials}, {"points", progress.points}};
  if (progress.default_seconds > 0) json["default_seconds"] = progress.default_seconds;
  if (progress.best_seconds > 0) json["best_seconds"] = progress.best_seconds;
  return json;
}

std::string outcome_text(tune::Outcome outcome) {
  std::string text = tune::outcome_name(outcome);
  for (char& c : text)
    if (c == '_') c = ' ';
  return text;
}

std::string sizes_text(const tune::TuneRecord& record) {
  std::vector<std::string> texts;
  for (const auto& [name, size] : record.sizes) texts.push_back(name + "=" + std::to_string(size));
  return join(",", texts) + (record.fixed.empty() && !record.sizes.empty() ? " (open)" : "");
}

std::string rate_text(const tune::Progress& progress) {
  return progress.seconds > 0 ? fixed_text(static_cast<double>(progress.count()) / progress.seconds, 1) + "/s" : "";
}

std::string failures_text(const tune::Progress& progress) {
  std::string text;
  for (const auto& [outcome, count] : progress.trials)
    if (outcome != tune::Outcome::measured) text += ", " + count_text(count) + " " + outcome_text(outcome);
  return text;
}

std::string peak_text(const tune::Progress& progress, double seconds) {
  if (!progress.roofline || seconds <= 0) return "";
  return percent_text(progress.roofline->share(seconds)) +
         (progress.roofline->is_limited_by_memory() ? " of a copy's rate" : " of peak");
}

text::Json trial_json(const tune::TuneRecord& trial, const tune::Progress& progress) {
  text::Json json = {
      {"schema", "ferry.trial/1"}, {"function", trial.function}, {"outcome", tune::outcome_name(trial.outcome)}};
  json["point"] = trial.point;
  json["values"] = trial.values;
  if (trial.time) json["seconds"] = trial.time->seconds;
  if (!trial.reason.empty()) json["reason"] = trial.reason;
  json["progress"] = progress_json(progress);
  return json;
}

std::string tuned_text(const tune::Tuned& tuned, const std::string& records) {
  const tune::Progress& progress = tuned.progress;
  std::string text = count_text(progress.count()) + " of " + count_text(progress.points) + " points in " +
                     seconds_text(progress.seconds) + " (" + rate_text(progress) + ")";
  const std::string failures = failures_text(progress);
  text += failures + (tuned.earlier > 0 ? "; " + count_text(tuned.earlier) + " from earlier runs\n" : "\n");
  if (tuned.is_faster) {
    text += tuned.best.function + ": " + seconds_text(tuned.best.time->seconds) + ", " +
            tune::gain_text(*tune::share_of_default(tuned.best)) + " times as fast as the default schedule";
    if (tuned.comparison) {
      const stats::Comparison& times = tuned.comparison->times;
      text += " [" + fixed_text(times.low, 2) + ", " + fixed_text(times.high, 2) + "]";
    } else {
      text += ", measured once";
    }
    const std::string peak = peak_text(progress, tuned.best.time->seconds);
    if (!peak.empty()) text += ", " + peak;
    text += "\n" + point_lines(tuned.best.point);
  } else {
    text += "nothing is faster than the default schedule by 1% or more";
    if (tuned.comparison) text += ", as far as " + count_text(tuned.comparison->processes.size()) + " processes tell";
    const std::string peak = peak_text(progress, progress.default_seconds);
    text += peak.empty() ? "\n" : "; the default reaches " + peak + "\n";
  }
  if (!records.empty()) text += "recorded in " + records + "\n";
  if (tuned.is_interrupted)
    text +=
        "interrupted before the best was compared with the default, so nothing uses it yet; a second start goes on\n";
  return text;
}

text::Json tuned_json(const tune::Tuned& tuned, const std::string& records) {
  text::Json json = {{"schema", "ferry.tuned/1"},
                     {"function", tuned.best.function},
                     {"is_faster", tuned.is_faster},
                     {"is_interrupted", tuned.is_interrupted},
                     {"records", records},
                     {"earlier", tuned.earlier},
                     {"progress", progress_json(tuned.progress)}};
  if (tuned.best.time) {
    json["point"] = tuned.best.point;
    json["values"] = tuned.best.values;
    json["seconds"] = tuned.best.time->seconds;
    json["default_seconds"] = tuned.best.default_time->seconds;
    json["confirmed"] = tuned.best.confirmed;
  }
  add_roofline(tuned, json);
  if (tuned.comparison && !tuned.comparison->processes.empty()) {
    const stats::Comparison& times = tuned.comparison->times;
    json["ratio"] = times.ratio;
    json["ratio_interval_99"] = {times.low, times.high};
  }
  return json;
}

}  // namespace ferry::cli
