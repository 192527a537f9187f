#include "host/gate/report/html_report.h"

#include <cmath>

#include "base/format.h"
#include "base/quantity_text.h"
#include "host/gate/report/anchors.h"
#include "host/gate/report/baseline_notes.h"
#include "host/gate/report/case_section.h"
#include "host/gate/report/charts.h"
#include "host/gate/report/page_parts.h"
#include "host/gate/report/words.h"

namespace ferry::gate {

namespace {

std::size_t index_of(const Report& report, const CaseResult& result) {
  return static_cast<std::size_t>(&result - report.cases.data());
}

void write_facts(html::Html& html, const Report& report) {
  const auto list = html.open("dl", {{"class", "facts"}});
  write_fact(html, "Current version", report.label);
  write_fact(html, "Compared with", report.baseline);
  write_fact(html, "Started", utc_text(report.started));
  write_fact(html, "Took", std::isfinite(report.elapsed_seconds) ? seconds_text(report.elapsed_seconds) : "");
  write_fact(html, "Exit code", std::to_string(exit_code(report)));
  write_fact(html, "All intervals hold with", percent_text(1 - report.error_level) + " probability");
  write_fact(html, "ferry", report.version);
}

void add_row(FactTable& table, const Report& report, const CaseResult& result) {
  const std::string name = result.name.empty() ? "(no name)" : result.name;
  const std::string change = change_text(result);
  const auto write_name = [&report, &result, name](html::Html& html) {
    html.element("a", name, {{"href", "#" + anchor_of(index_of(report, result))}});
  };
  const auto write_word = [&result](html::Html& html) { write_verdict(html, result.verdict); };
  const auto write_change = [&result, change](html::Html& html) {
    html.text(change);
    write_change_bar(html, result);
  };
  table.add({{name, write_name},
             {to_text(result.verdict), write_word},
             {change, write_change},
             time_of(result.sides[Side::baseline]),
             time_of(result.sides[Side::current]),
             board_of(result)});
}

}  // namespace

std::string html_report(const Report& report) {
  const std::string footer =
      "Written by ferry " + report.version + " at the end of a run that started at " + utc_text(report.started) + ".";
  return write_page(headline(report) + " - " + report.suite, report.suite.empty() ? "Results" : report.suite, footer,
                    [&](html::Html& html) {
                      html.element("p", headline(report),
                                   {{"class", std::string("headline ") + style_of(severity_of(report))}});
                      if (report.failure) write_lines(html, report.failure->message, "Why the run failed");
                      write_facts(html, report);
                      for (const std::string& note : baseline_notes(report)) html.element("p", note);
                      for (const std::string& note : method_notes(report)) html.element("p", note);
                      const std::vector<const CaseResult*> results = by_importance(report);
                      if (!results.empty()) {
                        // A narrow screen shows the first two columns: the verdict must be one of them.
                        FactTable table({"Case", "Verdict", "Change", "Baseline", "Current", "Board"});
                        for (const CaseResult* result : results) add_row(table, report, *result);
                        table.write(html, "All cases, those that need attention first");
                      }
                      for (const CaseResult* result : results) {
                        write_case(html, *result, anchor_of(index_of(report, *result)), !has_news(*result));
                      }
                    });
}

}  // namespace ferry::gate
