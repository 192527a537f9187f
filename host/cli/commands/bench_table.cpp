// Several measurements as a table, for people and for other programs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "base/quantity_text.h"
#include "host/cli/commands/bench_report.h"
#include "host/text/columns.h"
#include "host/text/footnotes.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

using bench::Measurement;

template <class Has>
bool any(const std::vector<Measurement>& reports, const Has& has) {
  return std::any_of(reports.begin(), reports.end(), has);
}

std::string change_text(const std::optional<bench::Change>& change) {
  if (!change) return "";
  const std::string text = "x " + number_text(change->ratio);
  if (change->is_slower()) return text + " slower";
  return change->is_faster() ? text + " faster" : text;
}

// Returns every digit of a number, or nothing for one that is not known.
std::string csv_number(double value) {
  if (!(value > 0) || std::isinf(value)) return "";
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

bool is_checked(const Measurement& report) {
  return !report.findings.checks.empty() || !report.findings.compared.empty();
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

std::string sizes_text(const Measurement& report) {
  std::vector<std::string> sizes;
  for (const auto& [name, size] : report.function.sizes) sizes.push_back(name + "=" + std::to_string(size));
  return join(", ", sizes);
}

std::string knobs_text(const Measurement& report) {
  std::string text;
  for (const auto& [name, value] : report.knobs) text += (text.empty() ? "" : ", ") + name + "=" + value;
  return text;
}

void print_table(const BenchRun& run) {
  const std::vector<Measurement>& reports = run.reports;
  const bool devices = any(reports, [&](const auto& r) { return r.device != reports.front().device; });
  const bool knobs = any(reports, [](const auto& r) { return !r.knobs.empty(); });
  const bool flops = any(reports, [](const auto& r) { return r.flops > 0; });
  const bool warned = any(reports, [](const auto& r) { return !r.warnings().empty(); });
  const bool counted = any(reports, [](const auto& r) { return r.timing.instructions > 0; });
  const bool changes = !run.changes.empty();
  const bool methods = any(reports, [&](const auto& r) { return !r.method.is_comparable(reports.front().method); });
  text::Footnotes notes;
  text::Rows rows(1);
  const auto add = [&](bool shown, const char* name, const auto& text) {
    if (!shown) return;
    rows.front().emplace_back(name);
    for (std::size_t i = 0; i < reports.size(); ++i) {
      if (rows.size() <= i + 1) rows.emplace_back();
      rows[i + 1].push_back(text(i));
    }
  };
  add(devices, "device", [&](std::size_t i) { return reports[i].device; });
  add(true, "sizes", [&](std::size_t i) { return sizes_text(reports[i]); });
  add(knobs, "knobs", [&](std::size_t i) { return knobs_text(reports[i]); });
  add(true, "median", [&](std::size_t i) { return seconds_text(reports[i].timing.median()); });
  add(true, "95% interval", [&](std::size_t i) { return interval_text(reports[i]); });
  add(true, "deviation", [&](std::size_t i) { return seconds_text(reports[i].timing.deviation()); });
  add(flops, "speed",
      [&](std::size_t i) { return reports[i].flops > 0 ? rate_text(reports[i].flops_per_second(), "FLOP/s") : ""; });
  add(true, "memory", [&](std::size_t i) { return rate_text(reports[i].bytes_per_second(), "B/s"); });
  add(counted, "instructions", [&](std::size_t i) {
    return reports[i].timing.instructions > 0 ? number_text(reports[i].timing.instructions, 4) : "";
  });
  add(methods, "method", [&](std::size_t i) {
    const bench::Method& method = reports[i].method;
    return method.inputs + ", " + method.cache + ", " + method.isolation;
  });
  add(changes, "baseline", [&](std::size_t i) { return change_text(run.changes[i]); });
  add(warned, "notes", [&](std::size_t i) { return notes.marks(reports[i].warnings()); });
  const std::string device = devices ? "" : " on " + reports.front().device;
  printf("%s%s\n", reports.front().function.signature.c_str(), device.c_str());
  text::print_columns(rows);
  for (const std::string& note : notes.lines()) printf("%s\n", text::wrapped(note, text::terminal_width()).c_str());
  if (methods) {
    const std::string note =
        "a method is that of inputs, cache and isolation: times of different ones are not comparable";
    printf("%s\n", text::wrapped(note, text::terminal_width()).c_str());
  }
  if (any(reports, is_checked)) printf("every result here is right, as --check and --check-against found\n");
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
    row.emplace_back(is_checked(report) ? (is_timed ? "right" : "wrong") : "");
    row.push_back(is_timed ? join("; ", report.warnings()) : "wrong result: " + report.findings.mistake());
    rows.push_back(std::move(row));
  }
  return text::csv_text(rows);
}

}  // namespace ferry::cli
