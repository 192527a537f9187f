// Every device there is, so that one suite runs over all of them: a new one is added here and has passed when the suite
// has.
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
  MemoryBudget* budget = nullptr;      // that its memory is counted in, of 10 MiB
  std::unique_ptr<MemoryBudget> own;   // where it has none
  std::unique_ptr<ModuleFile> module;  // null: it runs no plans
};

// FERRY_CONFORMANCE names those to test, as "cpu,cuda"; without it all of this machine and the fake driver's. Of them,
// only cuda may be missing.
void for_each_device(const std::function<void(TestedDevice&)>& check);

}  // namespace ferry::device
