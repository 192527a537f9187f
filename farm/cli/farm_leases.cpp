#include <memory>

#include "farm/cli/farm_command.h"
#include "farm/cli/farm_listing.h"

namespace ferry::cli {

namespace {

int list_leases(const FarmOptions& options) {
  return print_listing(options, farm::wire::ListLeases(),
                       {{"LEASE", "lease"},
                        {"HOLDER", "holder"},
                        {"BOARDS", "boards"},
                        {"KIND", "kind"},
                        {"REMAINING", "remaining_seconds"},
                        {"JOB", "job"}},
                       "all boards are free");
}

}  // namespace

void add_farm_leases(CLI::App& farm, Action& chosen) {
  auto options = std::make_shared<FarmOptions>();
  CLI::App& command = *farm.add_subcommand("leases", "Show the leases, whose they are and how long they last");
  add_farm_listing_options(command, *options);
  command.footer(
      "Examples:\n"
      "  ferry farm leases");
  command.callback([options, &chosen] { chosen = [options](const Compiler*) { return list_leases(*options); }; });
}

}  // namespace ferry::cli
