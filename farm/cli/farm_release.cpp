#include <unistd.h>

#include <cstdio>
#include <memory>

#include "farm/cli/farm_command.h"
#include "farm/cli/farm_options.h"
#include "farm/protocol/lease_id.h"

namespace ferry::cli {

void add_farm_release(CLI::App& farm, Action& chosen) {
  struct Options {
    FarmOptions farm;
    std::string lease;
  };
  auto options = std::make_shared<Options>();
  CLI::App& command = *farm.add_subcommand("release", "End a lease or cancel a request: your own or, by an admin, any");
  command.add_option("lease", options->lease, "As reserve, leases or queue show it")->type_name("LEASE")->required();
  add_farm_options(command, options->farm);
  command.footer(
      "Examples:\n"
      "  ferry farm release 9f3c0a11d2e4b567");
  command.callback([options, &chosen] {
    chosen = [options](const Compiler*) -> int {
      const std::uint64_t lease = value_or_throw(farm::parse_lease(options->lease));
      farm::FarmClient client = connect_farm(options->farm);
      value_or_throw(client.ask(farm::wire::EndLease{lease}));
      // Where reserve has put it, if that was here.
      (void)unlink((lease_folder() + "/" + farm::lease_text(lease)).c_str());
      printf("released %s\n", farm::lease_text(lease).c_str());
      return kExitFine;
    };
  });
}

}  // namespace ferry::cli
