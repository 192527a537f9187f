// The commands of 'ferry farm', as those of command.h.
#pragma once

#include "farm/api/farm_host.h"
#include "host/cli/commands/command.h"

namespace ferry::cli {

// Adds 'farm'. Without a host, the commands for a farm's tracker are missing.
void add_farm(CLI::App& app, Action& chosen, const farm::FarmHost* host);

void add_farm_status(CLI::App& farm, Action& chosen);
void add_farm_devices(CLI::App& farm, Action& chosen);
void add_farm_queue(CLI::App& farm, Action& chosen);
void add_farm_leases(CLI::App& farm, Action& chosen);
void add_farm_exec(CLI::App& farm, Action& chosen);
void add_farm_reserve(CLI::App& farm, Action& chosen);
void add_farm_release(CLI::App& farm, Action& chosen);
void add_farm_history(CLI::App& farm, Action& chosen);
void add_farm_audit(CLI::App& farm, Action& chosen);
void add_farm_maintain(CLI::App& farm, Action& chosen);
void add_farm_retire(CLI::App& farm, Action& chosen);
void add_farm_enrol(CLI::App& farm, Action& chosen);
void add_farm_token(CLI::App& farm, Action& chosen);
void add_farm_credentials(CLI::App& farm, Action& chosen);
// For the tracker's machine.
void add_farm_serve(CLI::App& farm, Action& chosen, const farm::FarmHost& host);
void add_farm_backup(CLI::App& farm, Action& chosen, const farm::FarmHost& host);

}  // namespace ferry::cli
