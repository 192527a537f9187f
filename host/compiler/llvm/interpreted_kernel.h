// Compiles a kernel to the loops, blocks and threads that are interpreted.
#pragma once

#include "host/compiler/api/compiler.h"

namespace ferry {

// As Compiler::interpret().
InterpretedKernel interpreted_kernel(const Scheduled& scheduled, const Target* target);

}  // namespace ferry
