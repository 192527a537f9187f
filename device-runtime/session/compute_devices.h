// The devices beside the CPU: which the machine has, and one of them for a session.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device-runtime/device/device.h"
#include "device-runtime/device/drivers.h"
#include "device-runtime/device/memory_budget.h"

namespace ferry::device {

// Asked in a process that ends with it, since a driver that was once awake cannot be used after a fork. A driver that
// does not answer in time, or crashes, has no devices; of kinds without any it is said why.
std::vector<ProbedDevice> probe_devices(const Drivers& drivers);

// "cuda", "opencl", or "opencl:1" for the second of its kind. The memory of a GPU that is driven by CUDA is not counted
// in the budget. unsupported for an unknown kind or without a driver, not_found for a number that there is not.
Result<std::unique_ptr<Device>> open_device(const Drivers& drivers, const std::string& name, MemoryBudget& budget);

}  // namespace ferry::device
