#include <cstdio>
#include <memory>

#include "base/quantity_text.h"
#include "farm/cli/farm_command.h"
#include "farm/cli/farm_options.h"
#include "farm/client/farm_connector.h"
#include "farm/protocol/lease_id.h"
#include "host/cli/options/interrupts.h"

namespace ferry::cli {

namespace {

struct ReserveOptions {
  FarmOptions farm;
  LeaseFlags lease;
  std::string output;
};

int reserve(const ReserveOptions& options) {
  const farm::FarmAccess access = access_of(options.farm);
  farm::LeaseOptions wanted = lease_options(options.lease);
  wanted.kind = farm::wire::LeaseKind::reserved;
  const std::string folder = options.output.empty() ? lease_folder() : "";
  // Ctrl-C cancels the request, which would go on without its client.
  const InterruptibleWork work;
  const auto lease = request_boards(access, wanted);
  const std::string id = farm::lease_text(lease->id());
  const std::string file = options.output.empty() ? folder + "/" + id : options.output;
  try {
    session::write_lease_file(file, farm::lease_file_of(access, *lease));
  } catch (const Error&) {
    lease->release();
    throw;
  }
  const auto remaining = static_cast<std::uint64_t>(lease->remaining().count());
  if (options.farm.json) {
    text::Json boards = text::Json::array();
    for (const auto& slot : lease->slots()) boards.push_back({{"name", slot.board}, {"address", slot.address}});
    text::print_json({{"schema", "ferry.farm.reserve/1"},
                      {"lease", id},
                      {"remaining_seconds", static_cast<double>(remaining) * 1e-3},
                      {"file", file},
                      {"boards", boards}});
    return kExitFine;
  }
  printf("lease %s of %s for %s\n", id.c_str(), farm::boards_text(lease->slots()).c_str(),
         span_text(remaining).c_str());
  printf("use:  ferry device --remote lease:%s%s\n", file.c_str(),
         lease->slots().size() > 1 ? "#1   (#2 is the second board)" : "");
  printf("end:  ferry farm release %s\n", id.c_str());
  return kExitFine;
}

}  // namespace

void add_farm_reserve(CLI::App& farm, Action& chosen) {
  auto options = std::make_shared<ReserveOptions>();
  CLI::App& command = *farm.add_subcommand("reserve", "Get boards until a time, whether a command runs or not");
  add_lease_options(command, options->lease);
  command.add_option("-o,--output", options->output, "Where to put the file of the lease, which holds its keys")
      ->type_name("FILE");
  add_farm_listing_options(command, options->farm);
  command.footer(
      "The lease lasts for 30 minutes, or for --length, and ends then or when it is released.\n\n"
      "Examples:\n"
      "  ferry farm reserve rpi4 --length 2h\n"
      "  ferry farm reserve 'arch=aarch64' 'arch=riscv64' --wait 10m");
  command.callback([options, &chosen] { chosen = [options](const Compiler*) { return reserve(*options); }; });
}

}  // namespace ferry::cli
