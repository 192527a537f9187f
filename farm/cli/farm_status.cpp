#include <cstdio>
#include <memory>

#include "base/quantity_text.h"
#include "farm/cli/farm_command.h"
#include "farm/cli/farm_options.h"
#include "farm/json/pages.h"

namespace ferry::cli {

namespace {

int show_status(const FarmOptions& options) {
  farm::FarmClient client = connect_farm(options);
  const farm::wire::FarmSummary summary = value_or_throw(client.ask(farm::wire::Summarize()));
  if (options.json) {
    text::print_json(farm::document_of(summary));
    return kExitFine;
  }
  printf("boards    %u, of which %u are connected and %u leased\n", summary.boards, summary.connected, summary.leased);
  printf("requests  %u waiting", summary.waiting);
  if (summary.waiting > 0) printf(", the longest for %s", span_text(summary.longest_wait_ms).c_str());
  printf("\n");
  return kExitFine;
}

}  // namespace

void add_farm_status(CLI::App& farm, Action& chosen) {
  auto options = std::make_shared<FarmOptions>();
  CLI::App& command = *farm.add_subcommand("status", "Show how busy the farm is");
  add_farm_listing_options(command, *options);
  command.footer(
      "Examples:\n"
      "  ferry farm status");
  command.callback([options, &chosen] { chosen = [options](const Compiler*) { return show_status(*options); }; });
}

}  // namespace ferry::cli
