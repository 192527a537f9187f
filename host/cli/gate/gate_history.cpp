#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "base/printable.h"
#include "host/cli/gate/gate_command.h"
#include "host/cli/gate/gate_options.h"
#include "host/cli/gate/store_options.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/target_option.h"
#include "host/gate/history/history.h"
#include "host/gate/report/history_page.h"
#include "host/gate/report/history_words.h"
#include "host/gate/report/words.h"
#include "host/gate/store/case_history.h"
#include "host/gate/suite/read_suite.h"
#include "host/kernel/file.h"
#include "host/text/columns.h"
#include "host/text/json.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

struct HistoryOptions {
  std::string name, suite = "suite.toml";
  RemoteOptions remote;
  StoreOptions store;
  std::size_t limit = 30;
  std::string html;  // a file
  bool json = false;
};

constexpr std::size_t kMostEntries = 100'000;
constexpr std::size_t kLeastRowsOfPage = 500;
constexpr int kBarColumns = 24;

text::Json series_json(const gate::HistorySeries& series) {
  text::Json entries = text::Json::array();
  for (const gate::HistoryEntry& entry : series.entries) {
    const auto bound = [](double value) { return std::isfinite(value) ? text::Json(value) : text::Json(nullptr); };
    entries.push_back({{"when", entry.when},
                       {"label", entry.label},
                       {"verdict", gate::name_of(entry.verdict)},
                       {"module", to_hex(entry.module.module)},
                       {"baseline_seconds", entry.seconds[gate::Side::baseline]},
                       {"seconds", entry.seconds[gate::Side::current]},
                       {"ratio", bound(entry.change.ratio)},
                       {"low", bound(entry.change.low)},
                       {"high", bound(entry.change.high)},
                       {"instructions", entry.instructions},
                       {"seed", entry.method.seed}});
  }
  text::Json changes = text::Json::array();
  for (const stats::ChangePoint& change : series.changes) {
    changes.push_back({{"entry", change.index}, {"before", change.before}, {"after", change.after}, {"p", change.p}});
  }
  const gate::Environment& at = series.environment;
  return {{"target", series.target},
          {"board", at.board},
          {"processor", at.processor},
          {"kernel", at.kernel},
          {"governor", at.governor},
          {"method",
           {{"inputs", series.method.inputs}, {"cache", series.method.cache}, {"isolation", series.method.isolation}}},
          {"entries", std::move(entries)},
          {"change_points", std::move(changes)}};
}

// A bar from the least time of the series, so that small differences show.
std::string bar(double seconds, double least, double most) {
  if (!(seconds > 0)) return "";
  const double share = most > least ? (seconds - least) / (most - least) : 0;
  return std::string(1 + static_cast<std::size_t>(std::lround(share * (kBarColumns - 1))), '=');
}

// `other` is a series of times of another method, or null.
void print_series(const gate::HistorySeries& series, const gate::HistorySeries* other, std::size_t limit) {
  printf("%s\n  compiled for %s\n",
         text::wrapped(printable(gate::to_text(series.environment)), text::terminal_width()).c_str(),
         printable(target_text(series.target, false)).c_str());
  if (other != nullptr)
    printf("%s\n", text::wrapped("  times with " + printable(bench::to_text(series.method)) +
                                     ", not compared with those with " + printable(bench::to_text(other->method)),
                                 text::terminal_width())
                       .c_str());
  const std::size_t first = series.entries.size() - std::min(limit, series.entries.size());
  double least = HUGE_VAL, most = 0;
  for (std::size_t i = first; i < series.entries.size(); ++i) {
    const double seconds = series.entries[i].seconds[gate::Side::current];
    if (!(seconds > 0)) continue;
    least = std::min(least, seconds);
    most = std::max(most, seconds);
  }
  text::Rows rows{{"WHEN (UTC)", "COMMIT", "VERDICT", "CHANGE", "MEASURED", "", "LEVEL"}};
  for (std::size_t i = first; i < series.entries.size(); ++i) {
    const gate::HistoryEntry& entry = series.entries[i];
    rows.push_back({gate::utc_text(entry.when), printable(gate::commit_of(entry)), gate::to_text(entry.verdict),
                    entry.seconds[gate::Side::baseline] > 0 ? gate::percent_change(entry.change.ratio) : "",
                    gate::measured_text(entry), bar(entry.seconds[gate::Side::current], least, most),
                    gate::level_text(series, i)});
  }
  text::print_columns(text::without_blank_columns(rows), "  ");
}

int show_history(const HistoryOptions& options) {
  if (!options.html.empty()) expect_writable(options.html);
  const gate::Suite suite = gate::read_suite(options.suite, *options.remote.schemes);
  std::vector<std::string> addresses;
  if (!options.remote.address.empty()) addresses.push_back(options.remote.address);
  const std::string place = place_of(options.store, remotes_of(suite, addresses));
  const std::unique_ptr<gate::Store> store = open_store(place, options.store, options.remote.key_file);
  // A case that the suite does not have any more may still have a history.
  const auto known = std::ranges::find(suite.cases, options.name, &gate::SuiteCase::name);
  const std::vector<gate::HistorySeries> all =
      gate::series_of(known == suite.cases.end() ? store->history(suite.name, options.name)
                                                 : gate::case_history(*store, suite.name, *known));
  if (!options.html.empty()) {
    const std::string page =
        gate::history_page({suite.name, options.name, FERRY_VERSION}, all, std::max(options.limit, kLeastRowsOfPage));
    write_file(options.html, page.data(), page.size());
  }
  if (options.json) {
    text::Json series = text::Json::array();
    for (const gate::HistorySeries& one : all) series.push_back(series_json(one));
    text::print_json({{"schema", "ferry.gate.history/1"}, {"case", options.name}, {"series", std::move(series)}});
    return kExitFine;
  }
  if (all.empty()) find_case(suite, options.name);
  if (all.empty()) text::print_note("nothing was recorded yet of the case " + options.name + " in " + place);
  for (const gate::HistorySeries& one : all) {
    const auto other = std::ranges::find_if(all, [&](const gate::HistorySeries& series) {
      return series.environment == one.environment && series.target == one.target &&
             !series.method.is_comparable(one.method);
    });
    print_series(one, other == all.end() ? nullptr : &*other, options.limit);
  }
  return kExitFine;
}

}  // namespace

void add_gate_history(CLI::App& gate, Action& chosen, const session::Schemes& schemes) {
  auto options = std::make_shared<HistoryOptions>();
  CLI::App& command =
      *gate.add_subcommand("history", "Show the verdicts and times of a case, and where its time changed");
  command.add_option("case", options->name, "The name of the case")->type_name("CASE")->required();
  add_suite_file_option(command, options->suite);
  add_address_options(command, options->remote, schemes, "A board of the farm that keeps the history");
  add_store_options(command, options->store);
  command.add_option("--limit", options->limit, "How many of the latest entries")
      ->type_name("N")
      ->check(whole_number(1, kMostEntries))
      ->capture_default_str();
  command.add_option("--html", options->html, "Also write a page with a chart of the times to this file")
      ->type_name("FILE")
      ->group("Output");
  add_json_option(command, options->json);
  command.footer(
      "Each environment has a table of its own: times of different boards, systems and governors are not comparable.\n"
      "LEVEL marks where the times changed for longer, by a test that is meant for people and decides nothing.\n\n"
      "Example:\n"
      "  ferry gate history mm --html mm.html");
  command.callback([options, &chosen] { chosen = [options](const Compiler*) { return show_history(*options); }; });
}

}  // namespace ferry::cli
