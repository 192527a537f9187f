#include <memory>

#include "farm/cli/farm_command.h"
#include "farm/cli/farm_options.h"
#include "farm/protocol/lease_id.h"

namespace ferry::cli {

namespace {

namespace wire = farm::wire;

const std::vector<Listing::Column>& queue_columns() {
  static const std::vector<Listing::Column> columns{
      {"PLACE", "place"},           {"HOLDER", "holder"},         {"BOARDS", "selectors"},
      {"PRIORITY", "priority"},     {"WAITED", "waited_seconds"}, {"EXPECTED IN", "expected_seconds"},
      {"BLOCKED BY", "blocked_by"}, {"REQUEST", "request"},       {"JOB", "job"}};
  return columns;
}

int list_queue(const FarmOptions& options) {
  farm::TrackerConnection connection = connect_farm(options);
  Listing listing("ferry.farm.queue/1", "requests", queue_columns());
  wire::ListQueue query;
  for_each_page(connection, query, [&](const wire::QueuePage& page) {
    for (const wire::QueueListing& one : page.requests) {
      listing.add_number(one.place);
      listing.add(one.holder);
      listing.add_list(one.selectors);
      listing.add_number(one.priority);
      listing.add_span(one.waited_ms);
      listing.add_span(one.expected_ms);
      listing.add_unless_empty(one.blocked_by);
      listing.add(farm::lease_text(one.request));
      listing.add_unless_empty(one.job);
      query.after = one.request;
    }
    return !page.requests.empty();
  });
  listing.print(options.json, "nobody waits");
  return kExitFine;
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
