// Several measurements as a table, for people and for other programs.
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "base/quantity_text.h"
#include "host/cli/commands/bench_report.h"
#include "host/measure/report/result_table.h"
#include "host/text/columns.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

using bench::Measurement;

// Returns every digit of a number, or nothing for one that is not known.
std::string csv_number(double value) {
  if (!(value > 0) || std::isinf(value)) return "";
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

constexpr std::size_t kTimeColumns = 14;

// Returns the columns from median_seconds to isolation.
std::vector<std::string> csv_times(const Measurement& report, const std::optional<bench::Change>& change) {
  const stats::Interval interval = report.interval();
  return {csv_number(report.timing.median()),
          csv_number(interval.low),
          csv_number(interval.high),
          csv_number(report.timing.deviation()),
          csv_number(report.timing.minimum()),
          std::to_string(report.timing.seconds.size()),
          csv_number(report.flops_per_second()),
          csv_number(report.bytes_per_second()),
          csv_number(report.timing.instructions),
          change ? csv_number(change->baseline) : "",
          change ? csv_number(change->ratio) : "",
          report.method.inputs,
          report.method.cache,
          report.method.isolation};
}

}  // namespace

void print_table(const BenchRun& run) {
  const bench::ResultTable table = bench::result_table(run.reports, run.changes);
  const std::string device = table.has_devices ? "" : " on " + run.reports.front().device;
  printf("%s%s\n", run.reports.front().function.signature.c_str(), device.c_str());
  text::print_columns(table.rows);
  for (const std::string& note : table.notes) printf("%s\n", text::wrapped(note, text::terminal_width()).c_str());
}

std::string bench_csv(const BenchRun& run) {
  std::vector<const Measurement*> all;
  for (const Measurement& report : run.reports) all.push_back(&report);
  for (const BenchFailure& failure : run.failures)
    if (failure.wrong) all.push_back(&*failure.wrong);
  std::set<std::string> sizes, knobs;
  for (const Measurement* report : all) {
    for (const auto& [name, size] : report->function.sizes) sizes.insert(name);
    for (const auto& [name, value] : report->knobs) knobs.insert(name);
  }
  text::Rows rows = {{"device", "function"}};
  std::vector<std::string>& header = rows.front();
  header.insert(header.end(), sizes.begin(), sizes.end());
  header.insert(header.end(), knobs.begin(), knobs.end());
  for (const char* name : {"median_seconds", "interval_95_low_seconds", "interval_95_high_seconds", "deviation_seconds",
                           "minimum_seconds", "samples", "flops_per_second", "bytes_per_second", "instructions",
                           "baseline_seconds", "baseline_ratio", "inputs", "cache", "isolation", "check", "warnings"})
    header.emplace_back(name);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Measurement& report = *all[i];
    std::vector<std::string> row = {report.device, report.function.name};
    const std::map<std::string, std::int64_t> known(report.function.sizes.begin(), report.function.sizes.end());
    for (const std::string& name : sizes) row.push_back(known.contains(name) ? std::to_string(known.at(name)) : "");
    for (const std::string& name : knobs) row.push_back(report.knobs.contains(name) ? report.knobs.at(name) : "");
    const bool is_timed = i < run.reports.size();
    const std::vector<std::string> times = is_timed
                                               ? csv_times(report, run.changes.empty() ? std::nullopt : run.changes[i])
                                               : std::vector<std::string>(kTimeColumns);
    row.insert(row.end(), times.begin(), times.end());
    row.emplace_back(bench::is_checked(report) ? (is_timed ? "right" : "wrong") : "");
    row.push_back(is_timed ? join("; ", report.warnings()) : "wrong result: " + report.findings.mistake());
    rows.push_back(std::move(row));
  }
  return text::csv_text(rows);
}

}  // namespace ferry::cli
