#include "host/cli/commands/compare_report.h"

#include <cstdio>

#include "base/quantity_text.h"
#include "host/cli/commands/bench_report.h"
#include "host/cli/commands/check_report.h"
#include "host/measure/code_layout.h"
#include "host/measure/timed_results.h"

namespace ferry::cli {

namespace {

// The name changes whenever the change would mislead readers of the old schema.
constexpr const char* kCompareSchema = "ferry.compare/2";

const char* outcome_name(stats::Verdict verdict) {
  switch (verdict) {
    case stats::Verdict::a_slower:
    case stats::Verdict::b_slower: return "difference";
    case stats::Verdict::no_difference: return "no difference";
    case stats::Verdict::unknown: return "cannot tell";
  }
  return "";
}

const char* outcome_of(const bench::KernelComparison& found) {
  if (!found.timed_mistake().empty()) return "wrong when timed";
  return found.impossible().empty() ? outcome_name(found.times.verdict) : "impossible";
}

text::Json slower_json(stats::Verdict verdict) {
  switch (verdict) {
    case stats::Verdict::a_slower: return "A";
    case stats::Verdict::b_slower: return "B";
    case stats::Verdict::no_difference:
    case stats::Verdict::unknown: return nullptr;
  }
  return nullptr;
}

// Returns null for a count that is not known.
text::Json count_json(double count) { return count > 0 ? text::Json(count) : text::Json(nullptr); }

}  // namespace

std::string verdict_text(const CompareReport& report) {
  const stats::Comparison& comparison = report.found.times;
  if (const std::string why = report.found.timed_mistake(); !why.empty())
    return "wrong when it is timed: " + why + "; no verdict";
  if (const std::string why = report.found.impossible(); !why.empty()) return "impossible: " + why + "; no verdict";
  std::string text = stats::to_text(comparison, report.least_effect);
  if (comparison.verdict != stats::Verdict::unknown) return text;
  if (comparison.enough_processes && *comparison.enough_processes <= bench::kMostProcesses) {
    return text + "; more processes would tell (--processes " + std::to_string(*comparison.enough_processes) + ")";
  }
  return text + "; they are too close for --processes to tell: try a larger --least-effect";
}

text::Json to_json(const CompareReport& report) {
  text::Json kernels = text::Json::array();
  for (int k = 0; k < 2; ++k) {
    const bench::MeasuredFunction& function = report.found.facts.functions[k];
    kernels.push_back({{"kernel", report.names[k]},
                       {"signature", function.signature},
                       {"sizes", sizes_json(function)},
                       {"median_seconds", report.found.median(k)},
                       {"instructions", count_json(report.found.instructions(k))},
                       {"timed_checks", timed_checks_json(report.found.timed_checks(k))}});
  }
  text::Json processes = text::Json::array();
  for (const bench::ComparedProcess& process : report.found.processes) {
    processes.push_back(
        {{"log_ratio", process.log_ratio},
         {"code_padding",
          {bench::layout_of(process.layout.code[0]).code, bench::layout_of(process.layout.code[1]).code}},
         {"memory_pages", process.layout.memory_pages},
         {"b_first", process.layout.b_first},
         {"a_seconds", process.timings[0].seconds},
         {"b_seconds", process.timings[1].seconds},
         {"first_call_seconds", {process.timings[0].first_s, process.timings[1].first_s}},
         {"compared_calls", process.compared_calls},
         {"environment", environment_json(process.timings[0])}});
  }
  const stats::Comparison& c = report.found.times;
  return {{"schema", kCompareSchema},
          {"device", report.found.facts.device},
          {"cpu", report.found.facts.facts.cpu_name},
          {"processor", report.found.facts.processor},
          {"target", report.found.facts.target},
          {"kernels", kernels},
          {"inputs", report.found.inputs},
          {"seed", report.seed},
          {"secret_seed", secret_json(report.found.secret)},
          {"outputs", comparisons_json(report.found.outputs)},
          {"checks", {checks_json(report.found.checks[0]), checks_json(report.found.checks[1])}},
          {"probes", {probes_json(report.found.probes[0]), probes_json(report.found.probes[1])}},
          {"ratio", c.ratio},
          {"interval_99", text::Json::array({c.low, c.high})},
          {"p_value", c.p_value},
          {"least_effect", report.least_effect},
          {"outcome", outcome_of(report.found)},
          {"verdict", verdict_text(report)},
          {"slower", slower_json(c.verdict)},
          {"enough_processes", c.enough_processes ? text::Json(*c.enough_processes) : text::Json(nullptr)},
          {"warnings", report.found.warnings()},
          {"processes", processes}};
}

void print_report(const CompareReport& report) {
  const auto line = [](const char* what, const std::string& value) { printf("  %-10s %s\n", what, value.c_str()); };
  for (int k = 0; k < 2; ++k) {
    printf("%s  %s: %s, %s\n", k == 0 ? "A" : "B", report.names[k].c_str(),
           report.found.facts.functions[k].signature.c_str(), seconds_text(report.found.median(k)).c_str());
  }
  const stats::Comparison& c = report.found.times;
  const Timing& first = report.found.processes.front().timings[0];
  line("device", report.found.facts.device +
                     (report.found.facts.processor.empty() ? "" : ", " + report.found.facts.processor) + ", " +
                     std::to_string(first.threads) + (first.threads == 1 ? " thread" : " threads"));
  line("runs", std::to_string(report.found.processes.size()) + " processes, each with " +
                   std::to_string(first.seconds.size()) + " samples of both in turns and a layout of its own");
  const bool has_times = report.found.impossible().empty() && report.found.timed_mistake().empty();
  if (has_times)
    line("A / B",
         number_text(c.ratio, 4) + ", 99% interval [" + number_text(c.low, 4) + ", " + number_text(c.high, 4) + "]");
  if (const double a = report.found.instructions(0), b = report.found.instructions(1); a > 0 && b > 0)
    line("executes", number_text(a, 4) + " instructions against " + number_text(b, 4) + ", " + number_text(a / b, 4) +
                         " times as many");
  if (!report.found.outputs.empty())
    line("results", "the same from the same inputs" +
                        (report.found.inputs.empty() ? "" : " (" + join(", ", report.found.inputs) + ")"));
  line("isolation", bench::isolation_text(first));
  if (has_times && first.inspected) line("timed", bench::looked_at_text(first));
  if (const std::uint64_t count = report.found.compared_calls(); has_times && count > 0)
    line("compared", count_text(count) + (count == 1 ? " call" : " calls") +
                         " of both from the same inputs, drawn in secret; 1 of 20 comparisons misses it if " +
                         percent_text(bench::TimedChecks{.calls = count}.seen_share_of_calls()) +
                         " of the calls of one are wrong");
  for (const int k : {0, 1})
    if (const std::string checked = bench::checked_text(report.found.timed_checks(k)); has_times && !checked.empty())
      line(k == 0 ? "checked A" : "checked B", checked);
  if (first.fresh_inputs && report.found.secret.exists()) line("new inputs", new_inputs_text(report.found.secret));
  line("inputs", inputs_text(report.seed));
  line("verdict", verdict_text(report));
  for (const std::string& warning : report.found.warnings()) line("warning", warning);
}

text::Json difference_json(const CompareReport& report, const std::string& verdict) {
  return {{"schema", kCompareSchema},
          {"inputs", report.found.inputs},
          {"seed", report.seed},
          {"outputs", comparisons_json(report.found.outputs)},
          {"checks", {checks_json(report.found.checks[0]), checks_json(report.found.checks[1])}},
          {"probes", {probes_json(report.found.probes[0]), probes_json(report.found.probes[1])}},
          {"outcome", "results differ"},
          {"verdict", verdict},
          {"slower", nullptr}};
}

}  // namespace ferry::cli
