// NAME_message().
#pragma once

#include "crosscompile/codegen/llvm/plan/c_interface.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace ferry::codegen {

inline std::uint32_t code_of(ExportError error) { return static_cast<std::uint32_t>(error); }

// Emits "if (condition) return error;".
void return_if(llvm::IRBuilder<>& b, llvm::Value* condition, llvm::Value* result);

// Fills in the function, whose parameter is the code.
void emit_message(llvm::Function* function, const std::vector<std::string>& positive);

}  // namespace ferry::codegen
