#include "farm/cli/farm_command.h"

namespace ferry::cli {

void add_farm(CLI::App& app, Action& chosen, const farm::FarmHost* host) {
  CLI::App& farm = *app.add_subcommand("farm", "Use and manage a farm: many boards for many people, one at a time");
  farm.require_subcommand(1);
  farm.footer(
      "A farm's board is a remote of every command: --remote farm://FARM/SELECTOR gets one for as long as the command\n"
      "runs. FARM is a name in ~/.config/ferry/devices.toml, which names the trackers and your key:\n\n"
      "  [lab]\n"
      "  farm = \"tracker:9191\"\n"
      "  key = \"alice.key\"\n\n"
      "Examples:\n"
      "  ferry farm devices\n"
      "  ferry run mm.ferry --remote 'farm://lab/arch=aarch64?wait=10m'\n"
      "  ferry farm exec rpi4 -- ./test_all.sh");
  add_farm_status(farm, chosen);
  add_farm_devices(farm, chosen);
  add_farm_queue(farm, chosen);
  add_farm_leases(farm, chosen);
  add_farm_exec(farm, chosen);
  add_farm_reserve(farm, chosen);
  add_farm_release(farm, chosen);
  add_farm_history(farm, chosen);
  add_farm_audit(farm, chosen);
  add_farm_maintain(farm, chosen);
  add_farm_retire(farm, chosen);
  add_farm_enrol(farm, chosen);
  add_farm_token(farm, chosen);
  add_farm_credentials(farm, chosen);
  if (host != nullptr) add_farm_serve(farm, chosen, *host);
  if (host != nullptr) add_farm_backup(farm, chosen, *host);
}

}  // namespace ferry::cli
