// The state of a session's machine and device at one moment: small files and values that a GPU's driver reports.
#pragma once

#include <string>

#include "device-runtime/device/device.h"

namespace ferry::device {

// Returns the text for a path as PROTOCOL.md defines it for evaluate; a "gpu:" path queries the device. Empty if there
// is none.
std::string device_text(Device& device, const std::string& path);

}  // namespace ferry::device
