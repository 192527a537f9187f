// The devices that each flavour of the server supports in addition to the CPU; main.cpp selects the flavour.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device-runtime/device/device.h"
#include "device-runtime/device/memory_budget.h"
#include "module/device_id.h"

namespace ferry::device {

// Loads drivers at run time, like dlopen and dlsym.
struct Drivers {
  void* (*open)(const char* file) = nullptr;
  void* (*symbol)(void* library, const char* name) = nullptr;
};

// A device that the machine has, or a kind of which it has none.
struct ProbedDevice {
  ComputeDevice device;  // for a missing kind: only the kind
  std::string why_none;  // empty: the device exists
};

// Makes one program of those for a module's devices, in the order of its manifest.
using JoinPrograms = std::unique_ptr<Program> (*)(std::vector<Device*> devices,
                                                  std::vector<std::unique_ptr<Program>> programs);

// Null in a statically linked program, which cannot load drivers and does not contain the code that uses them.
struct OtherDevices {
  std::vector<ProbedDevice> (*probe)() = nullptr;
  Result<std::unique_ptr<Device>> (*open)(const DeviceId& id, MemoryBudget& budget) = nullptr;
  JoinPrograms join = nullptr;
  // For sessions that use such devices (supervisor/nameless_files.h, sandbox/capabilities.h).
  std::uint64_t (*nameless_bytes)(pid_t session, std::uint64_t most) = nullptr;
  bool (*sees_mapped_files)() = nullptr;
  // Restricts a session's process to the files that drivers need and its own folder; false: the kernel cannot.
  bool (*restrict_files)(const std::string& folder) = nullptr;
};

}  // namespace ferry::device
