// Finds what differs between two configurations of a farm, for people and for a tracker that goes on with the new one.
#pragma once

#include <string>
#include <vector>

#include "farm/config/farm_config.h"

namespace ferry::farm {

struct ConfigChanges {
  // "board pi-3: tag rack=b2 added", "weight of anna 1 -> 2". Commands and URLs are not shown, since they may contain
  // secrets.
  std::vector<std::string> sentences;

  // The boards and holders to which the configuration is to be applied anew. A board or a holder that the new
  // configuration lacks has been removed.
  std::vector<std::string> boards;
  std::vector<std::string> holders;
  bool has_health = false;
  bool has_relay = false;
  bool has_modules = false;
  bool has_hooks = false;
};

ConfigChanges diff(const FarmConfig& before, const FarmConfig& after);

}  // namespace ferry::farm
