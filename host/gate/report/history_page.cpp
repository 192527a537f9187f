#include "host/gate/report/history_page.h"

#include <algorithm>

#include "base/quantity_text.h"
#include "host/gate/report/history_chart.h"
#include "host/gate/report/history_words.h"
#include "host/gate/report/page_parts.h"
#include "host/gate/report/words.h"

namespace ferry::gate {

namespace {

void write_history_facts(html::Html& html, const HistorySeries& series) {
  const auto list = html.open("dl", {{"class", "facts"}});
  write_fact(html, "Processor", series.environment.processor);
  write_fact(html, "Operating system", series.environment.kernel);
  write_fact(html, "Frequency governor", series.environment.governor);
  write_fact(html, "Entries", std::to_string(series.entries.size()));
}

void add_history_row(FactTable& table, const HistorySeries& series, std::size_t index) {
  const HistoryEntry& entry = series.entries[index];
  const Verdict verdict = entry.verdict;
  table.add({commit_of(entry),
             {to_text(verdict), [verdict](html::Html& html) { write_verdict(html, verdict); }},
             change_text(entry),
             measured_text(entry),
             level_text(series, index),
             utc_text(entry.when)});
}

void write_series(html::Html& html, const HistorySeries& series, const std::string& id, std::size_t most_rows) {
  const auto section = html.open("section", {{"id", id}});
  const std::string board = series.environment.board;
  html.element("h2", board.empty() ? "(no name)" : board);
  write_history_facts(html, series);
  html.element("p", "Compiled for " + series.target, {{"class", "quiet"}});
  write_history_chart(html, series, id + "-chart");
  const std::size_t first = series.entries.size() - std::min(most_rows, series.entries.size());
  FactTable table({"Commit", "Verdict", "Change", "Measured", "Level", "When"});
  for (std::size_t i = first; i < series.entries.size(); ++i) add_history_row(table, series, i);
  table.write(html, (first > 0 ? "The latest " + std::to_string(most_rows) + " entries of " : "Entries of ") + board);
}

}  // namespace

std::string history_page(const HistoryOf& of, const std::vector<HistorySeries>& all, std::size_t most_rows) {
  return write_page("History of " + of.name + " - " + of.suite, of.name.empty() ? "(no name)" : of.name,
                    "Written by ferry " + of.version + ".", [&](html::Html& html) {
                      html.element("p", "History of this case of the suite " + of.suite +
                                            ". Each board, system and frequency governor has a chart of its own, "
                                            "because their times cannot be compared. A level is a time around which "
                                            "the case stayed for several commits. Levels are found afterwards and "
                                            "only shown: no verdict depends on them.");
                      if (all.empty()) html.element("p", "Nothing was recorded yet.");
                      for (std::size_t i = 0; i < all.size(); ++i)
                        write_series(html, all[i], "series-" + std::to_string(i + 1), most_rows);
                    });
}

}  // namespace ferry::gate
