#include "host/gate/history/history.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace ferry::gate {
namespace {

HistoryEntry entry_at(const std::string& board, double seconds, const std::string& governor = "performance") {
  HistoryEntry entry;
  entry.name = "mm";
  entry.target = "aarch64";
  entry.environment = {board, "cortex-a72", "Linux 6.1.0", governor};
  entry.seconds[Side::current] = seconds;
  return entry;
}

TEST_CASE("times of different boards, targets and governors are in different series") {
  std::vector<HistoryEntry> history = {entry_at("pi-1", 1e-3), entry_at("pi-2", 2e-3), entry_at("pi-1", 1e-3),
                                       entry_at("pi-1", 3e-3, "powersave")};
  history.push_back(entry_at("pi-2", 2e-3));
  history.back().target = "aarch64 -cpu=cortex-a53";
  const std::vector<HistorySeries> all = series_of(history);
  REQUIRE(all.size() == 4);
  CHECK(all[0].environment.board == "pi-1");
  CHECK(all[0].entries.size() == 2);
  CHECK(all[1].environment.board == "pi-2");
}

TEST_CASE("times of different methods are in different series, and entries without a time in the first one") {
  std::vector<HistoryEntry> history = {entry_at("pi-1", 0), entry_at("pi-1", 1e-3), entry_at("pi-1", 2e-3),
                                       entry_at("pi-1", 0), entry_at("pi-1", 1e-3)};
  for (const std::size_t cold : {0u, 1u, 4u}) history[cold].method.cache = "flushed";
  history[4].method.seed = 7;
  const std::vector<HistorySeries> all = series_of(history);
  REQUIRE(all.size() == 2);
  CHECK(all[0].method.cache == "flushed");
  CHECK(all[0].entries.size() == 4);
  CHECK(all[1].method.cache == "warm");
  CHECK(all[1].entries.size() == 1);
}

TEST_CASE("an entry without a measurement belongs to its board's series but not to its levels") {
  const std::vector<HistorySeries> all = series_of({entry_at("pi-1", 0, ""), entry_at("pi-1", 1e-3)});
  REQUIRE(all.size() == 1);
  CHECK(all[0].entries.size() == 2);
  CHECK(all[0].environment.governor == "performance");
}

TEST_CASE("a change of the level is found at its entry, between entries without times") {
  std::vector<HistoryEntry> history;
  for (int i = 0; i < 20; ++i) {
    history.push_back(entry_at("pi-1", 1e-3 * (1 + 0.001 * (i % 3))));
    history.push_back(entry_at("pi-1", 0));
  }
  const std::size_t change = history.size();
  for (int i = 0; i < 20; ++i) history.push_back(entry_at("pi-1", 1.1e-3 * (1 + 0.001 * (i % 3))));
  const std::vector<HistorySeries> all = series_of(history);
  REQUIRE(all.size() == 1);
  REQUIRE(all[0].changes.size() == 1);
  CHECK(all[0].changes[0].index == change);
  CHECK(all[0].changes[0].after / all[0].changes[0].before == doctest::Approx(1.1).epsilon(0.002));
}

TEST_CASE("times that are none do not count, and no history has no series") {
  CHECK(series_of({}).empty());
  std::vector<HistoryEntry> history;
  for (const double seconds : {HUGE_VAL, std::nan(""), -1.0, 1e-3}) history.push_back(entry_at("pi-1", seconds));
  const std::vector<HistorySeries> all = series_of(history);
  REQUIRE(all.size() == 1);
  CHECK(all[0].changes.empty());
}

}  // namespace
}  // namespace ferry::gate
