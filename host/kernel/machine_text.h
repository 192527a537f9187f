// Shows the machine code of modules.
#pragma once

#include <string>
#include <vector>

#include "ferry/client.h"
#include "host/compiler/api/compiler.h"
#include "host/kernel/hot_code.h"

namespace ferry {

// The functions of a module's CPU code, sorted by name. Throws UsageError for a module without such code.
std::vector<MachineFunction> machine_functions(const Compiler& compiler, const CompiledModule& module);

// Shows all of it: a label and an instruction a line.
std::string assembly_text(const Compiler& compiler, const CompiledModule& module);

// Its innermost loops, those of the functions with the largest ones first.
std::vector<HotLoop> hot_loops(const Compiler& compiler, const CompiledModule& module);

}  // namespace ferry
