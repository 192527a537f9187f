// A module's code on several devices, whose steps run in the order of the plan: each on its device's own stream, copies
// between devices in between.
#pragma once

#include <memory>
#include <vector>

#include "device-runtime/device/device.h"

namespace ferry::device {

// Joins the programs of a module's devices, in the order of its manifest. The devices must outlive the result.
std::unique_ptr<Program> mixed_program(std::vector<Device*> devices, std::vector<std::unique_ptr<Program>> programs);

}  // namespace ferry::device
