// A list of all devices, so that one suite runs over all of them: a new device is added here and conforms once the
// suite passes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device-runtime/device/device.h"
#include "device-runtime/device/memory_budget.h"

namespace ferry::device {

struct TestedDevice {
  std::string name;  // "null", "cpu", "opencl", "cuda", or "fake cuda"
  std::unique_ptr<Device> device;
  MemoryBudget* budget = nullptr;      // counts the device's memory; limit of 10 MiB
  std::unique_ptr<MemoryBudget> own;   // owns the budget of a device that has none itself
  std::unique_ptr<ModuleFile> module;  // null if the device does not run plans
};

// Calls `check` for each device. FERRY_CONFORMANCE lists the devices to test ("cpu,cuda"); by default these are all
// devices of this machine and the fake driver's, of which only cuda may be missing.
void for_each_device(const std::function<void(TestedDevice&)>& check);

}  // namespace ferry::device
