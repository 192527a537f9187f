#include <memory>

#include "farm/cli/farm_command.h"
#include "farm/cli/farm_listing.h"
#include "host/cli/options/option_checks.h"

namespace ferry::cli {

namespace {

constexpr std::uint32_t kMostAuditEntries = 100'000;

struct AuditOptions {
  FarmOptions farm;
  std::string board;
  std::uint32_t limit = 20;
};

int list_audit(const AuditOptions& options) {
  return print_listing(
      options.farm, farm::wire::ListAudit{options.board, 0},
      {{"WHEN (UTC)", "at"}, {"WHO", "actor"}, {"DID", "action"}, {"BOARD", "board"}, {"WHAT", "text"}},
      "nobody has changed anything yet", options.limit);
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
