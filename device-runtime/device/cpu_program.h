// A module's functions as machine code in this process.
#pragma once

#include "device-runtime/device/device.h"
#include "device-runtime/device/kernel_context.h"
#include "device-runtime/device/memory_budget.h"

namespace ferry::device {

// Loads the module's "elf" image and resolves every function of the manifest in it. All references must outlive the
// program.
Result<std::unique_ptr<Program>> load_cpu_program(const ModuleFile& module, const Hash& hash, Device& device,
                                                  MemoryBudget& budget, ThreadPool& pool, PrintBuffer& printed);

}  // namespace ferry::device
