#include <cmath>

#include "ferry/stats/interval.h"
#include "host/cli/commands/bench_report.h"
#include "host/cli/commands/check_report.h"
#include "host/stats/convergence.h"
#include "host/stats/outliers.h"
#include "host/stats/summary.h"
#include "module/manifest.h"

namespace ferry::cli {

namespace {

constexpr std::uint64_t kBootstrapSeed = 1;

const char* end_name(TimingEnd end) {
  switch (end) {
    case TimingEnd::all_samples: return "all samples";
    case TimingEnd::converged: return "converged";
    case TimingEnd::timeout: return "timeout";
  }
  return "";
}

// Returns null for an interval that is not known.
text::Json interval_json(const stats::Interval& interval) {
  return interval.is_known() ? text::Json::array({interval.low, interval.high}) : text::Json(nullptr);
}

// Returns null for missing values: JSON has no NaN.
text::Json number_json(double value) { return std::isfinite(value) ? text::Json(value) : text::Json(nullptr); }

text::Json quantity_json(const bench::Quantity& quantity) {
  if (!quantity.before) return {{"missing", quantity.missing}};
  return {{"before", *quantity.before}, {"after", *quantity.after}};
}

text::Json change_json(const std::optional<bench::Change>& change) {
  if (!change) return nullptr;
  return {{"seconds", change->baseline},
          {"ratio", change->ratio},
          {"interval", interval_json({change->low, change->high})}};
}

}  // namespace

text::Json sizes_json(const bench::MeasuredFunction& function) {
  text::Json sizes = text::Json::object();
  for (const auto& [name, size] : function.sizes) sizes[name] = size;
  return sizes;
}

text::Json timing_json(const Timing& timing) {
  const std::vector<double> ascending = stats::sorted(timing.seconds);
  text::Json percentiles = text::Json::object();
  for (const int percent : {5, 25, 50, 75, 95, 99}) {
    percentiles[std::to_string(percent)] = stats::quantile_of_sorted(ascending, percent / 100.0);
  }
  text::Json outliers = text::Json::array();
  const auto labels = stats::label_outliers(timing.seconds);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] != stats::OutlierLabel::none) outliers.push_back({{"sample", i}, {"label", to_text(labels[i])}});
  }
  return {{"seconds", timing.seconds},
          {"number", timing.number},
          {"warmup_calls", timing.warmup_calls},
          {"first_call_seconds", timing.first_s > 0 ? text::Json(timing.first_s) : text::Json()},
          {"call_alone_seconds", timing.alone_s > 0 ? text::Json(timing.alone_s) : text::Json()},
          {"argument_sets", timing.sets > 0 ? text::Json(timing.sets) : text::Json()},
          {"ended", end_name(timing.ended)},
          {"median_seconds", timing.median()},
          {"interval_95_seconds", interval_json(stats::median_interval(timing.seconds))},
          {"bootstrap_95_seconds", interval_json(stats::bootstrap_interval(timing.seconds, kBootstrapSeed))},
          {"relative_uncertainty", number_json(stats::relative_uncertainty(timing.seconds))},
          {"deviation_seconds", timing.deviation()},
          {"minimum_seconds", timing.minimum()},
          {"percentile_seconds", percentiles},
          {"outliers", outliers},
          {"context_switches", timing.switches},
          {"cores", timing.cores},
          {"cycles", number_json(timing.cycles)},
          {"instructions", number_json(timing.instructions)},
          {"cache_misses", number_json(timing.cache_misses)}};
}

text::Json secret_json(const SecretSeed& secret) {
  return secret.exists() ? text::Json(to_text(secret)) : text::Json(nullptr);
}

text::Json environment_json(const Timing& timing) {
  const bench::Environment environment = bench::read_environment(timing);
  text::Json json = {{"threads", timing.threads},
                     {"elapsed_seconds", timing.elapsed_s},
                     {"clock_resolution_seconds", static_cast<double>(timing.clock_resolution_ns) * 1e-9},
                     {"clock_overhead_seconds", static_cast<double>(timing.clock_overhead_ns) * 1e-9},
                     {"voluntary_switches", timing.voluntary_switches},
                     {"involuntary_switches", timing.involuntary_switches},
                     {"not_isolated", timing.not_isolated},
                     {"fresh_inputs", timing.fresh_inputs},
                     {"small_pages", timing.small_pages}};
  if (environment.governor_before.empty()) {
    json["governor"] = {{"missing", "the device has no cpufreq"}};
  } else {
    json["governor"] = {{"before", environment.governor_before}, {"after", environment.governor_after}};
  }
  for (const bench::Quantity& quantity : environment.quantities) json[quantity.name] = quantity_json(quantity);
  if (!environment.counters_missing.empty()) json["counters"] = {{"missing", environment.counters_missing}};
  return json;
}

text::Json timed_checks_json(const bench::TimedChecks& checks) {
  if (checks.calls == 0 && checks.between.empty()) return nullptr;
  return {{"calls", checks.calls},
          {"compared", checks.compared},
          {"elements", checks.elements},
          {"seen_share_of_calls", checks.seen_share_of_calls()},
          {"seen_share_of_elements", checks.seen_share_of_elements()},
          {"between", probes_json(checks.between)}};
}

text::Json to_json(const BenchRun& run) {
  text::Json results = text::Json::array(), errors = text::Json::array();
  for (const BenchFailure& failure : run.failures) {
    text::Json& error = errors.emplace_back(
        text::Json{{"device", failure.device}, {"code", failure.code}, {"message", failure.message}});
    if (!failure.wrong) continue;
    error["function"] = failure.wrong->function.name;
    error["sizes"] = sizes_json(failure.wrong->function);
    error["knobs"] = failure.wrong->knobs;
    error["secret_seed"] = secret_json(failure.wrong->secret);
    add_findings(failure.wrong->findings, false, error);
  }
  for (std::size_t i = 0; i < run.reports.size(); ++i) {
    const bench::Measurement& report = run.reports[i];
    text::Json json = {{"function", report.function.name},
                       {"signature", report.function.signature},
                       {"sizes", sizes_json(report.function)},
                       {"knobs", report.knobs},
                       {"constants", report.constants},
                       {"device", report.device},
                       {"cpu", report.facts.cpu_name},
                       {"processor", report.processor},
                       {"operating_system", report.facts.operating_system},
                       {"server_version", report.facts.server_version},
                       {"target", report.target},
                       {"cache", report.method.cache},
                       {"method",
                        {{"inputs", report.method.inputs},
                         {"cache", report.method.cache},
                         {"isolation", report.method.isolation},
                         {"seed", report.method.seed}}},
                       {"secret_seed", secret_json(report.secret)}};
    json.update(timing_json(report.timing));
    json["bytes"] = report.bytes;
    json["bytes_per_second"] = report.bytes_per_second();
    if (report.flops > 0) {
      json["flops"] = report.flops;
      json["flops_per_second"] = report.flops_per_second();
    }
    if (report.peak.flops > 0) {
      json["peak_flops_per_second"] = report.peak.flops;
      json["peak_bytes_per_second"] = report.peak.bytes;
    }
    if (!run.changes.empty()) json["baseline"] = change_json(run.changes[i]);
    add_findings(report.findings, false, json);
    json["timed_checks"] = timed_checks_json(report.timed_checks);
    if (!report.steps.empty()) json["steps"] = steps_json(report.steps);
    const std::string impossible = report.impossible();
    json["impossible"] = impossible.empty() ? text::Json(nullptr) : text::Json(impossible);
    json["environment"] = environment_json(report.timing);
    json["warnings"] = report.warnings();
    results.push_back(std::move(json));
  }
  return {{"schema", kBenchSchema},
          {"results", results},
          {"errors", errors},
          {"seed", run.seed},
          {"interrupted", run.is_interrupted}};
}

}  // namespace ferry::cli
