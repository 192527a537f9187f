#include <memory>

#include "farm/cli/farm_command.h"
#include "farm/cli/farm_options.h"
#include "host/cli/options/option_checks.h"

namespace ferry::cli {

namespace {

namespace wire = farm::wire;

const std::vector<Listing::Column>& audit_columns() {
  static const std::vector<Listing::Column> columns{{"", "number"},    {"WHEN (UTC)", "at"}, {"WHO", "actor"},
                                                    {"DID", "action"}, {"BOARD", "board"},   {"WHAT", "text"}};
  return columns;
}

constexpr std::uint32_t kMostAuditEntries = 100'000;

struct AuditOptions {
  FarmOptions farm;
  std::string board;
  std::uint32_t limit = 20;
};

int list_audit(const AuditOptions& options) {
  farm::TrackerConnection connection = connect_farm(options.farm);
  Listing listing("ferry.farm.audit/1", "entries", audit_columns());
  wire::ListAudit query{options.board, 0};
  std::uint32_t left = options.limit;
  for_each_page(connection, query, [&](const wire::AuditPage& page) {
    for (const wire::AuditListing& one : page.entries) {
      if (left == 0) return false;
      --left;
      listing.add_number(one.number);
      listing.add_time(one.at_ms);
      listing.add(one.actor);
      listing.add(one.action);
      listing.add(one.board);
      listing.add(one.text);
      query.before = one.number;
    }
    return left != 0 && !page.entries.empty();
  });
  listing.print(options.farm.json, "nobody has changed anything yet");
  return kExitFine;
}

}  // namespace

void add_farm_audit(CLI::App& farm, Action& chosen) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App& command = *farm.add_subcommand("audit", "Show what people did to the farm, newest first");
  command.add_option("--board", options->board, "Only what was done to this board")->type_name("NAME");
  command.add_option("--limit", options->limit, "How many at most")
      ->type_name("N")
      ->check(whole_number(1, kMostAuditEntries))
      ->capture_default_str();
  add_farm_listing_options(command, options->farm);
  command.footer(
      "Examples:\n"
      "  ferry farm audit --board pi-3");
  command.callback([options, &chosen] { chosen = [options](const Compiler*) { return list_audit(*options); }; });
}

}  // namespace ferry::cli
