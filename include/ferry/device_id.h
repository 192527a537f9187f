// Names a device of a machine: "cpu", "cuda", or "opencl:1" for the second device of its kind.
#pragma once

#include <cstdint>
#include <string>

namespace ferry {

enum class DeviceKind : std::uint8_t { cpu, cuda, opencl };

// The kind's name, as ComputeDevice::kind has it.
const char* device_kind_name(DeviceKind kind);

struct DeviceId {
  DeviceKind kind = DeviceKind::cpu;
  std::uint32_t index = 0;  // among the devices of this kind

  bool operator==(const DeviceId&) const = default;
};

// Returns the shortest name: without the index if it is 0.
std::string to_text(const DeviceId& device);

}  // namespace ferry
