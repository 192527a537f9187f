// What describes a session's machine and device at a moment: small files, and what a GPU's driver says.
#pragma once

#include <string>

#include "device-runtime/device/device.h"

namespace ferry::device {

// Of a path as PROTOCOL.md has them in evaluate; "gpu:" asks the device. Empty where there is nothing.
std::string device_text(Device& device, const std::string& path);

}  // namespace ferry::device
