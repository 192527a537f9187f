#include "host/measure/report/bench_page.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/quantity_text.h"
#include "host/measure/report/result_table.h"
#include "host/measure/report/samples_chart.h"
#include "host/measure/report/sweep_chart.h"
#include "host/text/report_page.h"
#include "host/text/table.h"

namespace ferry::bench {

namespace {

std::string function_of(const BenchPage& page) {
  return page.reports.empty() ? page.kernel : page.reports.front().function.name;
}

// Returns the sizes that are the same in all results.
std::string fixed_sizes(const BenchPage& page) {
  std::vector<std::string> sizes;
  for (const auto& size : page.reports.front().function.sizes) {
    const bool is_fixed = std::ranges::all_of(page.reports, [&](const Measurement& report) {
      return std::ranges::find(report.function.sizes, size) != report.function.sizes.end();
    });
    if (is_fixed) sizes.push_back(size.first + "=" + std::to_string(size.second));
  }
  return join(", ", sizes);
}

void write_facts(html::Html& html, const BenchPage& page) {
  const auto list = html.open("dl", {{"class", "facts"}});
  html::write_fact(html, "Kernel", page.kernel);
  if (!page.reports.empty()) html::write_fact(html, "Sizes of all results", fixed_sizes(page));
  html::write_fact(html, "Results", count_text(page.reports.size()));
  html::write_fact(html, "Baseline", page.baseline);
  if (page.when > 0) html::write_fact(html, "Measured", time_text(page.when) + " UTC");
  html::write_fact(html, "Seed of random inputs", std::to_string(page.seed));
}

// The peaks are the highest that were measured beside the device's results.
void write_device(html::Html& html, const Measurement& report, const Peak& peak) {
  {
    const auto list = html.open("dl", {{"class", "facts"}});
    html::write_fact(html, "Device", report.device);
    html::write_fact(html, "Processor", report.processor);
    html::write_fact(html, "Operating system", report.facts.operating_system);
    html::write_fact(html, "Server", report.facts.server_version);
    html::write_fact(html, "Threads", std::to_string(report.timing.threads));
    html::write_fact(html, "Method", to_text(report.method));
    if (peak.flops > 0) html::write_fact(html, "Peak of multiply-adds", rate_text(peak.flops, "FLOP/s"));
    if (peak.bytes > 0) html::write_fact(html, "Peak of a copy", rate_text(peak.bytes, "B/s"));
  }
  html.element("p", "Compiled for " + report.target, {{"class", "quiet"}});
}

void write_devices(html::Html& html, const BenchPage& page) {
  std::map<std::string, Peak> peaks;
  for (const Measurement& report : page.reports) {
    Peak& peak = peaks[report.device];
    peak = {std::max(peak.flops, report.peak.flops), std::max(peak.bytes, report.peak.bytes)};
  }
  for (const Measurement& report : page.reports) {
    const auto peak = peaks.find(report.device);
    if (peak == peaks.end()) continue;
    write_device(html, report, peak->second);
    peaks.erase(peak);
  }
}

void write_headlines(html::Html& html, const BenchPage& page) {
  if (page.is_interrupted)
    html.element("p", "Interrupted: not everything was measured.", {{"class", "headline unsure"}});
  if (page.failures.empty()) return;
  std::vector<std::string> devices;
  for (const PageFailure& failure : page.failures)
    if (std::ranges::find(devices, failure.device) == devices.end()) devices.push_back(failure.device);
  html.element("p", "Failures on " + join(", ", devices), {{"class", "headline bad"}});
}

void write_charts(html::Html& html, const BenchPage& page) {
  const std::vector<Variable> variables = variables_of(page.reports, page.swept);
  const bool has_flops = std::ranges::any_of(page.reports, [](const Measurement& report) { return report.flops > 0; });
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::string id = "chart-" + std::to_string(i + 1);
    write_sweep_chart(html, variables[i], Charted::seconds, id + "-time");
    write_sweep_chart(html, variables[i], has_flops ? Charted::flops : Charted::bytes, id + "-rate");
  }
  if (!page.swept.empty() && page.reports.size() > 1) return;
  html.element("h2", "Samples");
  for (std::size_t i = 0; i < page.reports.size(); ++i) {
    if (page.reports.size() > 1) html.element("h3", page.reports[i].device);
    write_samples_chart(html, page.reports[i], "samples-" + std::to_string(i + 1));
  }
}

std::string capitalized(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

void write_results(html::Html& html, const BenchPage& page) {
  const ResultTable results = result_table(page.reports, page.changes);
  html.element("h2", "Results");
  {
    std::vector<std::string> names;
    for (std::size_t c = 0; c < results.are_numbers.size(); ++c)
      names.push_back((results.are_numbers[c] ? "#" : "") + capitalized(results.rows.front()[c]));
    const std::vector<std::string_view> columns(names.begin(), names.end());
    const html::Table table(html, page.reports.front().function.signature, columns);
    const auto body = html.open("tbody");
    for (std::size_t r = 1; r < results.rows.size(); ++r) {
      const auto row = html.open("tr");
      html.element("th", results.rows[r].front(), {{"scope", "row"}, {"class", "text"}});
      for (std::size_t c = 1; c < results.rows[r].size(); ++c)
        html.element("td", results.rows[r][c], {{"class", results.are_numbers[c] ? "number" : "text"}});
    }
  }
  for (const std::string& note : results.notes) html.element("p", note, {{"class", "quiet"}});
}

void write_failures(html::Html& html, const BenchPage& page) {
  if (page.failures.empty()) return;
  html.element("h2", "Failures");
  for (const PageFailure& failure : page.failures) {
    html.element("h3", failure.device);
    html::write_lines(html, failure.message, "Failure on " + failure.device);
  }
}

}  // namespace

std::string bench_page(const BenchPage& page) {
  const std::string function = function_of(page);
  return html::write_page({"Times of " + function, "ferry bench", function, "Written by ferry " + page.version + "."},
                          [&](html::Html& html) {
                            write_headlines(html, page);
                            write_facts(html, page);
                            write_devices(html, page);
                            if (page.reports.empty()) {
                              html.element("p", "Nothing was measured.");
                            } else {
                              write_charts(html, page);
                              write_results(html, page);
                            }
                            write_failures(html, page);
                          });
}

}  // namespace ferry::bench
