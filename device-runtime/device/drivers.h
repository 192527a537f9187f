// What the two flavours of the server can do about devices beside the CPU: main.cpp says which it is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device-runtime/device/device.h"
#include "device-runtime/device/memory_budget.h"

namespace ferry::device {

// How drivers are loaded while the program runs: as dlopen and dlsym.
struct Drivers {
  void* (*open)(const char* file) = nullptr;
  void* (*symbol)(void* library, const char* name) = nullptr;
};

// A device that the machine has, or a kind that it has none of.
struct ProbedDevice {
  ComputeDevice device;  // of a missing kind: the kind alone
  std::string why_none;  // empty: it is there
};

// Null: a program that is linked statically loads no drivers, and carries nothing that would use them.
struct OtherDevices {
  std::vector<ProbedDevice> (*probe)() = nullptr;
  // "opencl", "opencl:1", "cuda".
  Result<std::unique_ptr<Device>> (*open)(const std::string& name, MemoryBudget& budget) = nullptr;
};

}  // namespace ferry::device
