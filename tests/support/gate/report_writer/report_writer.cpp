// Writes the sample reports in all formats to a folder, where tests in other languages read them: NAME.xml, .json, .md,
// .html and .txt. The page of a history is history.html.
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "host/gate/report/history_page.h"
#include "host/gate/report/html_report.h"
#include "host/gate/report/json_report.h"
#include "host/gate/report/junit_report.h"
#include "host/gate/report/markdown_report.h"
#include "host/gate/report/terminal_report.h"
#include "tests/support/gate/sample_reports.h"

namespace {

using namespace ferry::gate;

// The histories of a case on two boards with hostile names: one with times, whose level changes, and with entries that
// lack them, one with instructions.
std::vector<HistorySeries> sample_history() {
  const std::vector<std::string> texts = ferry::test::hostile_texts();
  std::vector<HistoryEntry> entries;
  for (std::size_t i = 0; i < 48; ++i) {
    HistoryEntry& entry = entries.emplace_back();
    entry.when = 1'772'354'436 + static_cast<std::int64_t>(i) * 3600;
    entry.label = texts[i % texts.size()];
    entry.target = texts[i % 2];
    entry.environment = {texts[i % 2], texts[3], texts[4], ""};
    entry.verdict = i % 8 == 5 ? Verdict::slower : Verdict::no_change;
    entry.module.module.fill(static_cast<std::uint8_t>(i));
    const double noise = 1 + 0.001 * static_cast<double>(i * 7 % 5);
    if (i % 2 == 1) {
      entry.instructions = 1'227'200 + static_cast<double>(i % 4);
    } else if (i % 6 != 4) {
      entry.seconds[Side::baseline] = 1e-3;
      entry.seconds[Side::current] = (i < 24 ? 1e-3 : 1.1e-3) * noise;
      const double ratio = entry.seconds[Side::current] / entry.seconds[Side::baseline];
      entry.change = {ratio, ratio * 0.99, i == 0 ? std::numeric_limits<double>::infinity() : ratio * 1.01};
    }
  }
  return series_of(std::move(entries));
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: gate_report_writer FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = words[1];
  bool is_written = true;
  {
    std::ofstream file(folder + "/history.html", std::ios::binary);
    file << history_page({ferry::test::hostile_texts()[0], ferry::test::hostile_texts()[1], "0.1.0"}, sample_history(),
                         20);
    is_written = file.flush().good();
  }
  for (const auto& [name, report] : ferry::test::sample_reports()) {
    const auto write = [&, &file_name = name](const char* ending, const std::string& text) {
      std::ofstream file(folder + "/" + file_name + ending, std::ios::binary);
      file << text;
      is_written = is_written && file.flush().good();
    };
    write(".xml", ferry::gate::junit_report(report));
    write(".json", ferry::gate::json_report(report));
    write(".md", ferry::gate::markdown_report(report, {"https://ci.example/gate.html?run=7"}));
    write(".html", ferry::gate::html_report(report));
    write(".txt", ferry::gate::terminal_report(report, 100, stdout));
  }
  if (!is_written) std::fprintf(stderr, "expected to write to %s\n", folder.c_str());
  return is_written ? 0 : 1;
}
