// Shows the loops in which a kernel's machine code spends its time.
#pragma once

#include <string>
#include <vector>

#include "host/compiler/api/compiler.h"
#include "host/kernel/kernel.h"

namespace ferry::cli {

struct CodeOptions {
  KernelOptions kernel;            // compiled or not
  std::string target = {};         // empty: this machine
  std::vector<std::string> sizes;  // to choose a default schedule by
  bool json = false;
};

int inspect_code(const Compiler& compiler, const CodeOptions& options);

// The hot loops of a module, each beneath a line with its function and its number of instructions; all of its code if
// there is no loop.
std::string hot_code_text(const Compiler& compiler, const CompiledModule& module);

}  // namespace ferry::cli
