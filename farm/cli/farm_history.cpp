#include <memory>

#include "farm/cli/farm_command.h"
#include "farm/cli/farm_listing.h"
#include "host/cli/options/option_checks.h"

namespace ferry::cli {

namespace {

constexpr std::uint32_t kMostEntries = 100'000;

struct HistoryOptions {
  FarmOptions farm;
  std::string board, holder;
  std::uint32_t limit = 20;
};

int list_history(const HistoryOptions& options) {
  return print_listing(options.farm, farm::wire::ListHistory{options.board, options.holder, 0, 0},
                       {{"ENDED (UTC)", "ended"},
                        {"LEASE", "lease"},
                        {"HOLDER", "holder"},
                        {"BOARDS", "boards"},
                        {"HAD FOR", "seconds"},
                        {"REASON", "reason"},
                        {"CLASS", "failure_class"},
                        {"JOB", "job"}},
                       "nothing has ended yet", options.limit);
}

}  // namespace

void add_farm_history(CLI::App& farm, Action& chosen) {
  auto options = std::make_shared<HistoryOptions>();
  CLI::App& command =
      *farm.add_subcommand("history", "Show leases and requests that have ended, newest first, and why");
  command.add_option("--board", options->board, "Only those of this board")->type_name("NAME");
  command.add_option("--holder", options->holder, "Only those of this person")->type_name("NAME");
  command.add_option("--limit", options->limit, "How many at most")
      ->type_name("N")
      ->check(whole_number(1, kMostEntries))
      ->capture_default_str();
  add_farm_listing_options(command, options->farm);
  command.footer(
      "Examples:\n"
      "  ferry farm history --holder alice\n"
      "  ferry farm history --board pi-3 --limit 100 --json");
  command.callback([options, &chosen] { chosen = [options](const Compiler*) { return list_history(*options); }; });
}

}  // namespace ferry::cli
