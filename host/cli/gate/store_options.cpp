#include "host/cli/gate/store_options.h"

#include <set>

#include "base/quantity_text.h"
#include "farm/client/farm_address.h"
#include "host/cli/options/option_checks.h"
#include "host/gate/farm_store/farm_store.h"
#include "host/gate/store/folder_store.h"

namespace ferry::cli {

namespace {

constexpr std::uint64_t kMegabyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostMegabytes = std::uint64_t{1} << 30;
constexpr const char* kFolder = ".ferry-gate";

}  // namespace

void add_store_options(CLI::App& command, StoreOptions& store) {
  command
      .add_option("--store", store.place,
                  "Where baselines and history are: a folder, which continuous integration keeps between runs, or "
                  "farm://FARM (default: the farm of the boards, otherwise .ferry-gate)")
      ->type_name("STORE")
      ->check(some_text("a folder or farm://FARM"))
      ->envname("FERRY_GATE_STORE");
  command
      .add_option("--quota", store.quota_megabytes,
                  "Megabytes of modules to keep in a folder; beyond it, the oldest that no baseline needs are deleted")
      ->type_name("MB")
      ->check(whole_number(1, kMostMegabytes))
      ->capture_default_str();
}

std::vector<std::string> remotes_of(const gate::Suite& suite, const std::vector<std::string>& addresses) {
  if (!addresses.empty()) return addresses;
  std::vector<std::string> remotes;
  for (const gate::SuiteBoard& board : suite.boards) remotes.push_back(board.remote);
  return remotes;
}

std::string place_of(const StoreOptions& store, const std::vector<std::string>& remotes) {
  if (!store.place.empty()) return store.place;
  std::set<std::string> farms;
  for (const std::string& remote : remotes) {
    if (const auto farm = farm::farm_of(remote)) farms.insert(*farm);
  }
  if (farms.empty()) return kFolder;
  if (farms.size() == 1) return std::string(farm::kFarmScheme) + *farms.begin();
  throw UsageError("the boards are of the farms " + join(" and ", farms) +
                   ": say with --store which of them keeps the baselines, as in --store farm://" + *farms.begin());
}

std::unique_ptr<gate::Store> open_store(const std::string& place, const StoreOptions& store,
                                        const std::string& key_file) {
  if (!place.starts_with(farm::kFarmScheme)) {
    return gate::open_folder_store(place, store.quota_megabytes * kMegabyte);
  }
  const std::string farm = place.substr(farm::kFarmScheme.size());
  if (farm.empty() || farm.find_first_of("/?") != std::string::npos) {
    throw UsageError("--store: expected a folder or farm://FARM, without a board, got '" + place + "'");
  }
  return gate::open_farm_store(farm::find_farm(farm, key_file));
}

}  // namespace ferry::cli
