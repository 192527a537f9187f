// Names a device of a machine, as clients ask for it and targets say it: "cpu", "cuda", or "opencl:1" for the second
// device of its kind. Everything that reads or writes such a name does it here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ferry {

enum class DeviceKind : std::uint8_t { cpu, cuda, opencl };

// The kind's name, as ComputeDevice::kind and, for GPUs, Manifest::arch have it.
const char* device_kind_name(DeviceKind kind);
// Returns nothing for any other text.
std::optional<DeviceKind> device_kind_named(std::string_view name);

struct DeviceId {
  DeviceKind kind = DeviceKind::cpu;
  std::uint32_t index = 0;  // among the devices of this kind

  bool operator==(const DeviceId&) const = default;
};

// Fails with unsupported if the text before the colon names no kind, and with invalid_argument if what follows is no
// number below 1000.
Result<DeviceId> parse_device_id(std::string_view name);

// Returns the shortest name: without the index if it is 0.
std::string to_text(const DeviceId& device);

}  // namespace ferry
