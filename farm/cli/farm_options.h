// What the commands of 'ferry farm' have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/throw_status.h"
#include "farm/client/board_lease.h"
#include "farm/client/farm_client.h"
#include "host/text/json.h"

namespace ferry::cli {

struct FarmOptions {
  std::string farm;  // empty: the only one of devices.toml
  std::string key_file;
  bool json = false;
};

// Adds --farm or FERRY_FARM, and --key-file.
void add_farm_options(CLI::App& command, FarmOptions& options);
// Adds --json too.
void add_farm_listing_options(CLI::App& command, FarmOptions& options);

// Throws Error that says how to name a farm and its key.
farm::FarmAccess access_of(const FarmOptions& options);
farm::FarmClient connect_farm(const FarmOptions& options);

// The boards that a command wants.
struct LeaseFlags {
  std::vector<std::string> selectors;
  std::string priority;
  std::string length;
  std::string wait;
  std::string job;
};
void add_lease_options(CLI::App& command, LeaseFlags& options);
// Throws UsageError.
farm::LeaseOptions lease_options(const LeaseFlags& options);

// Waits for the boards, with the place in the queue on the terminal. Throws Error.
std::unique_ptr<farm::BoardLease> request_boards(const farm::FarmAccess& access, const farm::LeaseOptions& options);

// Returns the folder for files of leases, which it makes if necessary: that of this user's sessions on this machine, or
// a folder for temporary files. Throws Error unless it is this user's alone.
std::string lease_folder();

}  // namespace ferry::cli
