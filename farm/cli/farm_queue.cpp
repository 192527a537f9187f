#include <memory>

#include "farm/cli/farm_command.h"
#include "farm/cli/farm_listing.h"

namespace ferry::cli {

namespace {

int list_queue(const FarmOptions& options) {
  return print_listing(options, farm::wire::ListQueue(),
                       {{"PLACE", "place"},
                        {"HOLDER", "holder"},
                        {"BOARDS", "selectors"},
                        {"PRIORITY", "priority"},
                        {"WAITED", "waited_seconds"},
                        {"EXPECTED IN", "expected_seconds"},
                        {"BLOCKED BY", "blocked_by"},
                        {"REQUEST", "request"},
                        {"JOB", "job"}},
                       "nobody waits");
}

}  // namespace

void add_farm_queue(CLI::App& farm, Action& chosen) {
  auto options = std::make_shared<FarmOptions>();
  CLI::App& command = *farm.add_subcommand("queue", "Show who waits for boards, in the order of their turns");
  add_farm_listing_options(command, *options);
  command.footer(
      "Examples:\n"
      "  ferry farm queue\n"
      "  ferry farm queue --json | jq '.requests | length'");
  command.callback([options, &chosen] { chosen = [options](const Compiler*) { return list_queue(*options); }; });
}

}  // namespace ferry::cli
