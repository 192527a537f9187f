// Checks a kernel in ferry's own notation without a device: its loops, blocks and threads run step by step.
#pragma once

#include <string>

#include "host/verify/check.h"
#include "host/verify/probes.h"

namespace ferry::verify {

// Compiles the chosen function up to the loops that each thread runs and interprets them: every index is checked
// against its tensor, every value must have been written before it is read, and no two threads may meet at an element
// that one of them writes: each is a mistake of the kernel. An empty `target` is OpenCL when the schedule binds loops
// to threads, otherwise this machine. Throws Error (invalid_argument) when the kernel
// cannot be compiled or called. Needs a compiler.
CheckReport check_interpreted(const KernelSource& source, const std::string& function, const std::string& target,
                              const CallOptions& call, const ProbeOptions& probing = {}, const Observer& observer = {});

}  // namespace ferry::verify
