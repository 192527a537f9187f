// Reads names of devices, as clients ask for them and targets say them. Everything that reads such a name does it here.
#pragma once

#include "base/status.h"
#include "ferry/device_id.h"

#include <optional>
#include <string_view>

namespace ferry {

// Returns nothing for any other text. Manifest::arch has this name for GPUs.
std::optional<DeviceKind> device_kind_named(std::string_view name);

// Fails with unsupported if the text before the colon names no kind, and with invalid_argument if what follows is no
// number below 1000.
Result<DeviceId> parse_device_id(std::string_view name);

}  // namespace ferry
