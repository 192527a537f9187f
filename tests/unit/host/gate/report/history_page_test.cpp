#include "host/gate/report/history_page.h"

#include <doctest/doctest.h>

#include <cmath>

#include "host/gate/report/history_words.h"

using namespace ferry::gate;

namespace {

HistoryEntry entry_at(const std::string& label, double seconds, Verdict verdict = Verdict::no_change) {
  HistoryEntry entry;
  entry.when = 1'772'354'436;
  entry.name = "mm";
  entry.target = "aarch64";
  entry.label = label;
  entry.verdict = verdict;
  entry.environment = {"pi-1", "cortex-a72", "Linux 6.1.0", "performance"};
  entry.module.module.fill(0xab);
  entry.seconds[Side::baseline] = seconds > 0 ? 1e-3 : 0;
  entry.seconds[Side::current] = seconds;
  if (seconds > 0) entry.change = {seconds / 1e-3, seconds / 1e-3 - 0.01, seconds / 1e-3 + 0.01};
  return entry;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

std::string page_of(std::vector<HistoryEntry> history, std::size_t most_rows = 100) {
  return history_page({"vision", "mm", "0.1.0"}, series_of(std::move(history)), most_rows);
}

}  // namespace

TEST_CASE("each measured commit is a mark with its interval, and a change of the level a line") {
  std::vector<HistoryEntry> history;
  for (int i = 0; i < 20; ++i) {
    const double noise = 1 + 0.001 * (i * 7 % 5);
    history.push_back(entry_at("c" + std::to_string(i), (i < 10 ? 1e-3 : 1.2e-3) * noise,
                               i < 10 ? Verdict::no_change : Verdict::slower));
    history.push_back(entry_at("same" + std::to_string(i), 0, Verdict::unchanged));
  }
  const std::string page = page_of(history);
  CHECK(count_of(page, "class=\"dots\"") == 20);
  CHECK(count_of(page, "<g class=\"current\">") == 10);
  CHECK(count_of(page, "class=\"spread\"") == 20);
  CHECK(count_of(page, "class=\"level\"") == 2);
  CHECK(count_of(page, "class=\"tolerance\"") == 1);
  CHECK(count_of(page, "<tr>") == 1 + 40);
  CHECK(count_of(page, "The level changed by +20.0% at c10.") == 2);  // for screen readers, and in the caption
  CHECK(count_of(page, "from here +20.0%") == 1);
}

TEST_CASE("each environment has a chart of its own, and one without times has none") {
  std::vector<HistoryEntry> history = {entry_at("a", 1e-3), entry_at("b", 0), entry_at("c", 2e-3)};
  history[1].environment.board = "pi-2";
  history[2].environment.board = "pi-3";
  const std::string page = page_of(history);
  CHECK(count_of(page, "<svg") == 2);
  CHECK(count_of(page, "<h2>pi-2") == 1);
  history[1].instructions = 12345;
  CHECK(count_of(page_of(history), "12345 instructions") > 0);
  CHECK(count_of(page_of(history), "<svg") == 3);
}

TEST_CASE("a page of many entries has the latest in its table, and stays small") {
  std::vector<HistoryEntry> history;
  for (int i = 0; i < 5000; ++i) history.push_back(entry_at("c" + std::to_string(i), 1e-3 * (1 + 0.001 * (i % 7))));
  const std::string page = page_of(history, 100);
  CHECK(page.size() < 1'000'000);
  CHECK(count_of(page, "<tr>") == 1 + 100);
  CHECK(count_of(page, "The latest 100 entries") == 2);
  CHECK(count_of(page, ">c4999<") >= 1);
}

TEST_CASE("numbers that are none and no history at all make a page nevertheless") {
  CHECK(count_of(page_of({}), "Nothing was recorded yet.") == 1);
  HistoryEntry odd = entry_at("odd", std::nan(""));
  HistoryEntry tiny = entry_at("tiny", 1e-300), infinite = entry_at("infinite", HUGE_VAL);
  infinite.seconds[Side::baseline] = HUGE_VAL;
  const std::string page = page_of({odd, tiny, infinite, entry_at("one", 1e-3)});
  CHECK(count_of(page, "class=\"dots\"") == 2);
  CHECK(count_of(page, "nan") == 0);
}

TEST_CASE("a commit is known by the beginning of its label, or by its module") {
  CHECK(commit_of(entry_at("0123456789abcdef", 1)) == "0123456789ab");
  CHECK(commit_of(entry_at("", 1)) == "module abababab");
  CHECK(change_text(entry_at("a", 1.02e-3)) == "+2.00% (+1.00% to +3.00%)");
  CHECK(change_text(entry_at("a", 0)) == "");
}

TEST_CASE("counts have short labels beside an axis that small differences do not fill") {
  std::vector<HistoryEntry> history;
  for (int i = 0; i < 6; ++i) {
    history.push_back(entry_at("c" + std::to_string(i), 0));
    history.back().instructions = 1'227'200 + i % 2;
  }
  const std::string page = page_of(history);
  CHECK(count_of(page, "e+0") == 0);
  CHECK(count_of(page, ">1.22") >= 3);  // labels of the axis
  CHECK(count_of(page, "M</text>") >= 3);
}

TEST_CASE("columns in which no entry says anything are left out") {
  std::vector<HistoryEntry> history = {entry_at("a", 0, Verdict::first), entry_at("b", 0, Verdict::unchanged)};
  std::string page = page_of(history);
  for (const char* head : {">Change<", ">Measured<", ">Level<"}) CHECK(count_of(page, head) == 0);
  for (const char* head : {">Commit<", ">Verdict<", ">When<"}) CHECK(count_of(page, head) == 1);
  history.push_back(entry_at("c", 2e-3));
  page = page_of(history);
  for (const char* head : {">Change<", ">Measured<"}) CHECK(count_of(page, head) == 1);
  CHECK(count_of(page, ">Level<") == 0);
}
