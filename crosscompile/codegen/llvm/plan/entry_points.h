// The code of an exported function's C functions, as LLVM IR.
#pragma once

#include "crosscompile/codegen/llvm/plan/emit_plan.h"

#include <llvm/IR/Module.h>

namespace ferry::codegen {

// Adds NAME_arena_bytes(), NAME_init(), NAME_run() and NAME_message() to the module, which has the functions of
// kRuntimeText.
void emit_entry_points(const ExportedPlan& plan, const Target& target, llvm::Module& module);

}  // namespace ferry::codegen
