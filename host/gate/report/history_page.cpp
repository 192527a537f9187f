#include "host/gate/report/history_page.h"

#include <algorithm>

#include "base/quantity_text.h"
#include "host/gate/report/history_chart.h"
#include "host/gate/report/history_words.h"
#include "host/gate/report/page_parts.h"
#include "host/gate/report/words.h"
#include "host/html/table.h"

namespace ferry::gate {

namespace {

void write_history_facts(html::Html& html, const HistorySeries& series) {
  const auto list = html.open("dl", {{"class", "facts"}});
  write_fact(html, "Processor", series.environment.processor);
  write_fact(html, "Operating system", series.environment.kernel);
  write_fact(html, "Frequency governor", series.environment.governor);
  write_fact(html, "Entries", std::to_string(series.entries.size()));
}

void write_history_row(html::Html& html, const HistorySeries& series, std::size_t index) {
  const HistoryEntry& entry = series.entries[index];
  const auto row = html.open("tr");
  html.element("th", commit_of(entry), {{"scope", "row"}});
  html.element("td", time_text(entry.when));
  {
    const auto cell = html.open("td");
    write_verdict(html, entry.verdict);
  }
  html.element("td", change_text(entry));
  html.element("td", measured_text(entry));
  html.element("td", level_text(series, index));
}

void write_series(html::Html& html, const HistorySeries& series, const std::string& id, std::size_t most_rows) {
  const auto section = html.open("section", {{"id", id}});
  const std::string board = series.environment.board;
  html.element("h2", board.empty() ? "(no name)" : board);
  write_history_facts(html, series);
  html.element("p", "Compiled for " + series.target, {{"class", "quiet"}});
  write_history_chart(html, series, id + "-chart");
  const std::size_t first = series.entries.size() - std::min(most_rows, series.entries.size());
  const html::Table table(
      html, (first > 0 ? "The latest " + std::to_string(most_rows) + " entries of " : "Entries of ") + board,
      {"Commit", "When", "Verdict", "Change", "Time", "Level"});
  const auto rows = html.open("tbody");
  for (std::size_t i = first; i < series.entries.size(); ++i) write_history_row(html, series, i);
}

}  // namespace

std::string history_page(const HistoryOf& of, const std::vector<HistorySeries>& all, std::size_t most_rows) {
  return write_page("History of " + of.name + " - " + of.suite, of.name.empty() ? "(no name)" : of.name,
                    "Written by ferry " + of.version + ".", [&](html::Html& html) {
                      html.element("p", "History of this case of the suite " + of.suite +
                                            ". Times of different boards, systems and governors are not comparable; "
                                            "where a level changes is for people and decides nothing.");
                      if (all.empty()) html.element("p", "Nothing was recorded yet.");
                      for (std::size_t i = 0; i < all.size(); ++i)
                        write_series(html, all[i], "series-" + std::to_string(i + 1), most_rows);
                    });
}

}  // namespace ferry::gate
