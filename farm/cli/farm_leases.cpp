#include <memory>

#include "farm/cli/farm_command.h"
#include "farm/cli/farm_options.h"
#include "farm/protocol/lease_id.h"

namespace ferry::cli {

namespace {

namespace wire = farm::wire;

const std::vector<Listing::Column>& lease_columns() {
  static const std::vector<Listing::Column> columns{{"LEASE", "lease"},
                                                    {"HOLDER", "holder"},
                                                    {"BOARDS", "boards"},
                                                    {"KIND", "kind"},
                                                    {"REMAINING", "remaining_seconds"},
                                                    {"JOB", "job"}};
  return columns;
}

int list_leases(const FarmOptions& options) {
  farm::TrackerConnection connection = connect_farm(options);
  Listing listing("ferry.farm.leases/1", "leases", lease_columns());
  wire::ListLeases query;
  for_each_page(connection, query, [&](const wire::LeasePage& page) {
    for (const wire::LeaseListing& one : page.leases) {
      listing.add(farm::lease_text(one.lease));
      listing.add(one.holder);
      listing.add_list(one.boards);
      listing.add(one.kind == wire::LeaseKind::reserved ? "reserved" : "attached");
      listing.add_span(one.remaining_ms);
      listing.add_unless_empty(one.job);
      query.after = one.lease;
    }
    return !page.leases.empty();
  });
  listing.print(options.json, "all boards are free");
  return kExitFine;
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
