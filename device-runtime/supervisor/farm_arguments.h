// The options with which rpc_server joins a farm.
#pragma once

#include <string_view>

#include "base/status.h"
#include "device-runtime/supervisor/arguments.h"

namespace ferry::device {

inline constexpr const char* kFarmOptions[] = {"--farm", "--farm-key", "--name", "--tag"};

// Fails with invalid_argument. `option` is one of kFarmOptions.
Status set_farm_option(FarmOptions& farm, std::string_view option, std::string_view value);

// Checks the options of a farm against each other and against the others.
Status check_farm(const Arguments& arguments);

}  // namespace ferry::device
