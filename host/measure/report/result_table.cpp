#include "host/measure/report/result_table.h"

#include <algorithm>

#include "base/quantity_text.h"
#include "host/text/footnotes.h"

namespace ferry::bench {

namespace {

template <class Has>
bool any(const std::vector<Measurement>& reports, const Has& has) {
  return std::any_of(reports.begin(), reports.end(), has);
}

std::string change_text(const std::optional<Change>& change) {
  if (!change) return "";
  const std::string text = "x " + number_text(change->ratio);
  if (change->is_slower()) return text + " slower";
  return change->is_faster() ? text + " faster" : text;
}

}  // namespace

bool is_checked(const Measurement& report) {
  return !report.findings.checks.empty() || !report.findings.compared.empty();
}

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

std::string interval_text(const Measurement& report) {
  const stats::Interval interval = report.interval();
  if (!interval.is_known()) return "unknown";
  return "[" + seconds_text(interval.low) + ", " + seconds_text(interval.high) + "]";
}

ResultTable result_table(const std::vector<Measurement>& reports, const std::vector<std::optional<Change>>& changes) {
  const bool knobs = any(reports, [](const auto& r) { return !r.knobs.empty(); });
  const bool flops = any(reports, [](const auto& r) { return r.flops > 0; });
  const bool warned = any(reports, [](const auto& r) { return !r.warnings().empty(); });
  const bool counted = any(reports, [](const auto& r) { return r.timing.instructions > 0; });
  const bool methods = any(reports, [&](const auto& r) { return !r.method.is_comparable(reports.front().method); });
  ResultTable table;
  table.has_devices = any(reports, [&](const auto& r) { return r.device != reports.front().device; });
  text::Footnotes notes;
  table.rows.resize(1 + reports.size());
  const auto add = [&](bool is_shown, const char* name, bool is_number, const auto& text) {
    if (!is_shown) return;
    table.rows.front().emplace_back(name);
    table.are_numbers.push_back(is_number);
    for (std::size_t i = 0; i < reports.size(); ++i) table.rows[i + 1].push_back(text(i));
  };
  add(table.has_devices, "device", false, [&](std::size_t i) { return reports[i].device; });
  add(true, "sizes", false, [&](std::size_t i) { return sizes_text(reports[i]); });
  add(knobs, "knobs", false, [&](std::size_t i) { return knobs_text(reports[i]); });
  add(true, "median", true, [&](std::size_t i) { return seconds_text(reports[i].timing.median()); });
  add(true, "95% interval", true, [&](std::size_t i) { return interval_text(reports[i]); });
  add(true, "deviation", true, [&](std::size_t i) { return seconds_text(reports[i].timing.deviation()); });
  add(flops, "speed", true,
      [&](std::size_t i) { return reports[i].flops > 0 ? rate_text(reports[i].flops_per_second(), "FLOP/s") : ""; });
  add(true, "memory", true, [&](std::size_t i) { return rate_text(reports[i].bytes_per_second(), "B/s"); });
  add(counted, "instructions", true, [&](std::size_t i) {
    return reports[i].timing.instructions > 0 ? number_text(reports[i].timing.instructions, 4) : "";
  });
  add(methods, "method", false, [&](std::size_t i) {
    const Method& method = reports[i].method;
    return method.inputs + ", " + method.cache + ", " + method.isolation;
  });
  add(!changes.empty(), "baseline", true, [&](std::size_t i) { return change_text(changes[i]); });
  add(warned, "notes", false, [&](std::size_t i) { return notes.marks(reports[i].warnings()); });
  table.notes = notes.lines();
  if (methods)
    table.notes.emplace_back(
        "a method is that of inputs, cache and isolation: times of different ones are not comparable");
  if (any(reports, is_checked))
    table.notes.emplace_back("every result here is right, as --check and --check-against found");
  return table;
}

}  // namespace ferry::bench
