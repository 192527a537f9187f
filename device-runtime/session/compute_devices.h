// The devices other than the CPU: lists those of the machine and opens one for a session.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device-runtime/device/device.h"
#include "device-runtime/device/drivers.h"
#include "device-runtime/device/memory_budget.h"
#include "module/device_id.h"

namespace ferry::device {

// The query runs in a child process, since an initialised driver cannot be used after a fork. A driver that crashes or
// does not answer in time counts as having no devices. For kinds without devices the reason is returned.
std::vector<ProbedDevice> probe_devices(const Drivers& drivers);

// Names the folder in the variables by which drivers choose where to keep what they compile, and temporary files: a
// session may write to no other folder than its own and those that FERRY_GPU_FOLDERS names. A cache in the environment
// stays if it is one of these: it is for all sessions.
void keep_drivers_files_in(const std::string& folder);

// The memory of a GPU driven through CUDA is not counted in the budget. Fails with unsupported for the CPU or if there
// is no driver, not_found if the index is out of range.
Result<std::unique_ptr<Device>> open_device(const Drivers& drivers, const DeviceId& id, MemoryBudget& budget);

}  // namespace ferry::device
