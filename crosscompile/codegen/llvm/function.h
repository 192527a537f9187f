// Emits one kernel: the ABI of ferry/runtime_api.h around a lowered function's body.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

void emit_function(ModuleState& module, const ir::Function& function);

// Throws CompileError: a module cannot have another function of this name.
[[noreturn]] void refuse_second(const ir::Function& function);

// Records the ranges of sizes.
void note_sizes(FunctionState& state);

// Sets the attributes that all emitted functions share: CPU, features, vector width, no unwinding.
void set_function_attributes(const ModuleState& module, llvm::Function* function);
// Marks a loaded pointer to a buffer as 64-byte aligned (or null, for a tensor without elements).
void mark_aligned(llvm::LoadInst* pointer);

}  // namespace ferry::codegen
