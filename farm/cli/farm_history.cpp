#include <memory>

#include "farm/cli/farm_command.h"
#include "farm/cli/farm_options.h"
#include "farm/protocol/lease_id.h"
#include "host/cli/options/option_checks.h"

namespace ferry::cli {

namespace {

namespace wire = farm::wire;

const std::vector<Listing::Column>& history_columns() {
  static const std::vector<Listing::Column> columns{{"ENDED (UTC)", "ended"},
                                                    {"LEASE", "lease"},
                                                    {"HOLDER", "holder"},
                                                    {"", "selectors"},
                                                    {"BOARDS", "boards"},
                                                    {"", "priority"},
                                                    {"", "kind"},
                                                    {"", "submitted"},
                                                    {"", "started"},
                                                    {"HAD FOR", "seconds"},
                                                    {"REASON", "reason"},
                                                    {"CLASS", "failure_class"},
                                                    {"", "text"},
                                                    {"JOB", "job"}};
  return columns;
}

constexpr std::uint32_t kMostEntries = 100'000;

struct HistoryOptions {
  FarmOptions farm;
  std::string board, holder;
  std::uint32_t limit = 20;
};

int list_history(const HistoryOptions& options) {
  farm::TrackerConnection connection = connect_farm(options.farm);
  Listing listing("ferry.farm.history/1", "leases", history_columns());
  wire::ListHistory query{options.board, options.holder, 0, 0};
  std::uint32_t left = options.limit;
  for_each_page(connection, query, [&](const wire::HistoryPage& page) {
    for (const wire::HistoryListing& one : page.leases) {
      if (left == 0) return false;
      --left;
      const bool has_started = one.started_ms && *one.started_ms <= one.ended_ms;
      listing.add_time(one.ended_ms);
      listing.add(farm::lease_text(one.lease));
      listing.add(one.holder);
      listing.add_list(one.selectors);
      listing.add_list(one.boards);
      listing.add_number(one.priority);
      listing.add(one.kind == wire::LeaseKind::reserved ? "reserved" : "attached");
      listing.add_time(one.submitted_ms);
      listing.add_time(one.started_ms);
      listing.add_span(has_started ? std::optional(one.ended_ms - *one.started_ms) : std::nullopt);
      listing.add(one.reason);
      listing.add(one.failure_class);
      listing.add(one.text);
      listing.add_unless_empty(one.job);
      query.before_ended_ms = one.ended_ms;
      query.before_lease = one.lease;
    }
    return left != 0 && !page.leases.empty();
  });
  listing.print(options.farm.json, "nothing has ended yet");
  return kExitFine;
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
