// Compiles a program for this machine and loads it into this process.
#pragma once

#include "host/compiler/api/compiler.h"

namespace ferry {

// Takes one program. Throws CompileError as compile() does.
HostKernel host_kernel(const KernelCompiler& compiler, const Scheduled& scheduled);

}  // namespace ferry
