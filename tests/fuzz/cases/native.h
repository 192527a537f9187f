// Runs machine code for this machine in this process, using the device runtime's loader and threads.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"
#include "tests/fuzz/cases/call.h"

#include <cstdint>
#include <stdexcept>

namespace ferry::fuzz {

// A schedule asks for more workspace than a test may take.
class WorkspaceLimit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Compiles a function that went through the passes and calls it. Returns the kernel's result. Throws WorkspaceLimit.
std::int32_t run_native(const ir::Function& function, const Target& target, const Call& call);

}  // namespace ferry::fuzz
