#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "base/suggest.h"
#include "host/cli/gate/gate_command.h"
#include "host/cli/gate/gate_options.h"
#include "host/cli/gate/store_options.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/output/columns.h"
#include "host/cli/output/json.h"
#include "host/cli/output/style.h"
#include "host/gate/history/history.h"
#include "host/gate/report/words.h"
#include "host/gate/suite/read_suite.h"

namespace ferry::cli {

namespace {

struct HistoryOptions {
  std::string name, suite = "suite.toml";
  RemoteOptions remote;
  StoreOptions store;
  std::size_t limit = 30;
  bool json = false;
};

constexpr std::size_t kMostEntries = 100'000;
constexpr int kBarColumns = 24;

Json series_json(const gate::HistorySeries& series) {
  Json entries = Json::array();
  for (const gate::HistoryEntry& entry : series.entries) {
    const auto bound = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
    entries.push_back({{"when", entry.when},
                       {"label", entry.label},
                       {"verdict", gate::name_of(entry.verdict)},
                       {"module", to_hex(entry.module.module)},
                       {"baseline_seconds", entry.seconds[0]},
                       {"seconds", entry.seconds[1]},
                       {"ratio", bound(entry.change.ratio)},
                       {"low", bound(entry.change.low)},
                       {"high", bound(entry.change.high)},
                       {"instructions", entry.instructions}});
  }
  Json changes = Json::array();
  for (const stats::ChangePoint& change : series.changes) {
    changes.push_back({{"entry", change.index}, {"before", change.before}, {"after", change.after}, {"p", change.p}});
  }
  const gate::Environment& at = series.environment;
  return {{"target", series.target},
          {"board", at.board},
          {"processor", at.processor},
          {"kernel", at.kernel},
          {"governor", at.governor},
          {"entries", std::move(entries)},
          {"change_points", std::move(changes)}};
}

// A bar from the least time of the series, so that small differences show.
std::string bar(double seconds, double least, double most) {
  if (!(seconds > 0)) return "";
  const double share = most > least ? (seconds - least) / (most - least) : 0;
  return std::string(1 + static_cast<std::size_t>(std::lround(share * (kBarColumns - 1))), '=');
}

std::string level_text(const gate::HistorySeries& series, std::size_t entry) {
  for (const stats::ChangePoint& change : series.changes) {
    if (change.index == entry) return "from here " + gate::percent_change(change.after / change.before);
  }
  return "";
}

void print_series(const gate::HistorySeries& series, std::size_t limit) {
  const gate::Environment& at = series.environment;
  printf("%s\n", printable(at.board + ", " + at.processor + ", " + at.kernel +
                           (at.governor.empty() ? "" : ", governor " + at.governor) + ", " + series.target)
                     .c_str());
  const std::size_t first = series.entries.size() - std::min(limit, series.entries.size());
  double least = HUGE_VAL, most = 0;
  for (std::size_t i = first; i < series.entries.size(); ++i) {
    const double seconds = series.entries[i].seconds[1];
    if (!(seconds > 0)) continue;
    least = std::min(least, seconds);
    most = std::max(most, seconds);
  }
  Rows rows{{"WHEN (UTC)", "COMMIT", "VERDICT", "CHANGE", "TIME", "", "LEVEL"}};
  for (std::size_t i = first; i < series.entries.size(); ++i) {
    const gate::HistoryEntry& entry = series.entries[i];
    const double seconds = entry.seconds[1];
    rows.push_back({gate::time_text(entry.when), printable(entry.label.substr(0, 12)), gate::to_text(entry.verdict),
                    entry.seconds[0] > 0 ? gate::percent_change(entry.change.ratio) : "",
                    seconds > 0              ? seconds_text(seconds)
                    : entry.instructions > 0 ? number_text(entry.instructions, 9) + " instructions"
                                             : "",
                    bar(seconds, least, most), level_text(series, i)});
  }
  print_columns(rows, "  ");
}

// A case that the suite does not have any more may still have a history.
void expect_case(const gate::Suite& suite, const std::string& name) {
  std::vector<std::string> known;
  for (const gate::SuiteCase& one : suite.cases) known.push_back(one.name);
  if (std::ranges::find(known, name) == known.end()) throw UsageError(unknown_name("case", name, known));
}

int show_history(const HistoryOptions& options) {
  const gate::Suite suite = gate::read_suite(options.suite);
  std::vector<std::string> addresses;
  if (!options.remote.address.empty()) addresses.push_back(options.remote.address);
  const std::string place = place_of(options.store, remotes_of(suite, addresses));
  const std::unique_ptr<gate::Store> store = open_store(place, options.store, options.remote.key_file);
  const std::vector<gate::HistorySeries> all = gate::series_of(store->history(suite.name, options.name));
  if (options.json) {
    Json series = Json::array();
    for (const gate::HistorySeries& one : all) series.push_back(series_json(one));
    print_json({{"schema", "ferry.gate.history/1"}, {"case", options.name}, {"series", std::move(series)}});
    return kExitFine;
  }
  if (all.empty()) expect_case(suite, options.name);
  if (all.empty()) print_note("nothing was recorded yet of the case " + options.name + " in " + place);
  for (const gate::HistorySeries& one : all) print_series(one, options.limit);
  return kExitFine;
}

}  // namespace

void add_gate_history(CLI::App& gate, Action& chosen) {
  auto options = std::make_shared<HistoryOptions>();
  CLI::App& command =
      *gate.add_subcommand("history", "Show the verdicts and times of a case, and where its time changed");
  command.add_option("case", options->name, "The name of the case")->type_name("CASE")->required();
  add_suite_file_option(command, options->suite);
  add_address_options(command, options->remote, "A board of the farm that keeps the history");
  add_store_options(command, options->store);
  command.add_option("--limit", options->limit, "How many of the latest entries")
      ->type_name("N")
      ->check(whole_number(1, kMostEntries))
      ->capture_default_str();
  add_json_option(command, options->json);
  command.footer(
      "Each environment has a table of its own: times of different boards, systems and governors are not comparable.\n"
      "LEVEL marks where the times changed for longer, by a test that is meant for people and decides nothing.\n\n"
      "Example:\n"
      "  ferry gate history mm --store .ferry-gate");
  command.callback([options, &chosen] { chosen = [options](const Compiler*) { return show_history(*options); }; });
}

}  // namespace ferry::cli
