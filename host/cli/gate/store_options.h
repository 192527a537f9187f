// Where baselines and history are kept.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/gate/api/suite.h"
#include "host/gate/store/store.h"

namespace ferry::cli {

struct StoreOptions {
  std::string place;  // a folder, or farm://FARM; empty: the farm of the boards, or else the folder .ferry-gate
  std::uint64_t quota_megabytes = 1024;  // the limit for a folder
};
void add_store_options(CLI::App& command, StoreOptions& store);

// Returns the remotes of the boards that the command line names, or else those of the suite.
std::vector<std::string> remotes_of(const gate::Suite& suite, const std::vector<std::string>& addresses);

// Returns the place that the options name, or the one that follows from the remotes. Throws UsageError if they are of
// several farms.
std::string place_of(const StoreOptions& store, const std::vector<std::string>& remotes);

// Opens the store at that place. The key of a farm is in `key_file`, or where farm::find_farm() finds it.
std::unique_ptr<gate::Store> open_store(const std::string& place, const StoreOptions& store,
                                        const std::string& key_file);

}  // namespace ferry::cli
