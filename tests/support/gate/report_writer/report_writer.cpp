// Writes the sample reports in all formats to a folder, where tests in other languages read them: NAME.xml, .json, .md,
// .html and .txt.
#include <cstdio>
#include <fstream>
#include <string>

#include "host/gate/report/html_report.h"
#include "host/gate/report/json_report.h"
#include "host/gate/report/junit_report.h"
#include "host/gate/report/markdown_report.h"
#include "host/gate/report/terminal_report.h"
#include "tests/support/gate/sample_reports.h"

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: gate_report_writer FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = words[1];
  bool is_written = true;
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
