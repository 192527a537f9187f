// Runs the init plan of a network on this machine when it is exported, so that programs need neither the plan nor what
// only it reads.
#pragma once

#include "ferry/client.h"

namespace ferry {

// Whether a module has code for its init plan that is for this machine (ImageKind::init_module).
bool has_init_modules(const CompiledModule& module);

// Runs that code on `device`. Returns the module with constants in place of the persistent buffers of its only
// function, and without its init plan and the constants that only this reads. Throws Error.
CompiledModule run_init_plan(const CompiledModule& module, const Device& device);

}  // namespace ferry
