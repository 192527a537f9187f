// Checks a kernel in ferry's own notation without a device: its loops, blocks and threads run step by step.
#pragma once

#include <string>
#include <vector>

#include "crosscompile/target/target.h"
#include "host/kernel/compile_kernel.h"
#include "host/verify/check_outputs.h"

namespace ferry::verify {

struct InterpretedCheck {
  FunctionInfo info;
  Target target;                    // what it was compiled for
  std::string mistake;              // the fault of a thread: a race, an index out of bounds; empty: none
  std::vector<CheckResult> checks;  // against the definition; empty after a mistake

  bool fine() const;
};

// Compiles the chosen function up to the loops that each thread runs and interprets them: every index is checked
// against its tensor, every value must have been written before it is read, and no two threads may meet at an element
// that one of them writes. An empty `target` is OpenCL when the schedule binds loops to threads, otherwise this
// machine. Throws UsageError, RemoteError (invalid_argument) or CompileError when the kernel cannot be compiled or
// called. Needs a compiler.
InterpretedCheck check_interpreted(const KernelSource& source, const std::string& function, const std::string& target,
                                   const CallOptions& call, const CheckLimits& limits = {},
                                   const Observer& observer = {});

}  // namespace ferry::verify
